/** A KV namespace for raw workerd, in memory: the four calls the binding makes, in the binding's own protocol. */
interface Entry {
  value: ArrayBuffer;
  metadata: string | null;
}

const entries = new Map<string, Entry>();

export default {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const key = decodeURIComponent(url.pathname.slice(1));
    if (request.method === 'PUT') {
      entries.set(key, { value: await request.arrayBuffer(), metadata: request.headers.get('cf-kv-metadata') });
      return new Response(null, { status: 204 });
    }
    if (request.method === 'DELETE') {
      entries.delete(key);
      return new Response(null, { status: 204 });
    }
    if (key === '') {
      const keys = [...entries.keys()].filter((name) => name.startsWith(url.searchParams.get('prefix') ?? ''));
      return Response.json({ keys: keys.map((name) => ({ name })), list_complete: true });
    }
    const entry = entries.get(key);
    if (!entry) return new Response('Not Found', { status: 404 });
    return new Response(entry.value, entry.metadata === null ? {} : { headers: { 'cf-kv-metadata': entry.metadata } });
  },
};
