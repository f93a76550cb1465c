/** Sessions that are earned at an edge, over HTTP. */
import { browse } from './browse.ts';
import { earnSession, type PostPage, type SessionResponse } from './session.ts';

export interface EdgeResponse extends SessionResponse {
  /** `name=value` of every cookie that it sets. */
  cookie: string;
  headers: Headers;
}

/** Posts to an edge. `headers` are the visitor's. */
export function sessionAt(edgeUrl: string, headers: Record<string, string>): PostPage<EdgeResponse> {
  return async (page) => {
    const response = await browse(`${edgeUrl}/__protect/session`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(page),
    });
    const cookies = response.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
    return {
      status: response.status,
      body: await response.json(),
      cookie: cookies.join('; '),
      headers: response.headers,
    };
  };
}

/** The session's cookie, earned at an edge. */
export async function sessionCookieAt(edgeUrl: string, headers: Record<string, string>): Promise<string> {
  const { status, body, cookie } = await earnSession(sessionAt(edgeUrl, headers));
  if (status !== 200 || cookie === '') throw new Error(`No session: ${status} ${JSON.stringify(body)}`);
  return cookie;
}
