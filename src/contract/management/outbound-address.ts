/**
 * Which addresses the service may be told to call: https with a public host name, or a server of the same machine, which
 * only the local stack calls. The form only: whether a name leads to a private network is asked at every call. No zod.
 */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return LOOPBACK.test(hostname);
}

export function isOutboundAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (isLoopback(url)) return url.protocol === 'https:' || url.protocol === 'http:';
  if (url.protocol !== 'https:' || url.port !== '') return false;
  return url.hostname.includes('.') && !url.hostname.startsWith('[') && !/(^|\.)\d+\.?$/.test(url.hostname);
}
