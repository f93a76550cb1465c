/** A queue for raw workerd that accepts every message and keeps none. */
export default {
  async fetch(request: Request): Promise<Response> {
    await request.arrayBuffer();
    return Response.json({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestamp: 0 } } });
  },
};
