/**
 * A request that somebody pastes to test policies on: the reference of a logged one, an address, the JSON that the API
 * takes, a `curl` command, or HTTP as a browser's tools or a log show it (`GET /path HTTP/1.1`, then headers).
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { failed, ok, type Result } from '../../result.ts';
import { readCurl } from './curl-command.ts';
import { HeaderFields, headerOf, type PastedRequest } from './header-fields.ts';

/** As `/protect/policies/test` takes it. */
export type GivenRequest = { request: object } | { requestId: string };

/** The service takes at most 100 headers of 16 KiB, and an address of 8 KiB. */
const PASTED_MAX_CHARS = 2 * 1024 * 1024;
const REFERENCE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const REQUEST_LINE = /^([A-Z]{1,16}) (\S+)(?: HTTP\/[\d.]+)?$/;

export function readPasted(pasted: string): Result<GivenRequest, string> {
  if (pasted.length > PASTED_MAX_CHARS) return failed('This is too long for a request.');
  const text = pasted.trim();
  if (REFERENCE.test(text)) return ok({ requestId: text.toLowerCase() });
  if (/^https?:\/\/\S+$/.test(text)) return ok({ request: { url: text } });
  if (text.startsWith('{')) {
    const request = parseJson(text);
    return isJsonObject(request) ? ok({ request }) : failed('This is not valid JSON.');
  }
  const read = /^curl\s/.test(text) ? readCurl(text) : readHttp(text);
  return read.ok ? ok({ request: read.value }) : read;
}

function readHttp(text: string): Result<PastedRequest, string> {
  const [first = '', ...lines] = text.split(/\r?\n/);
  const [, method, target = ''] = REQUEST_LINE.exec(first.trim()) ?? [];
  if (method === undefined) {
    return failed(
      'A request is a curl command, an address, JSON with a url, or begins with a line such as "GET /path HTTP/1.1".',
    );
  }
  const headers = new HeaderFields();
  for (const line of lines) {
    if (line.trim() === '') break;
    const field = headerOf(line);
    if (field === null) return failed(`This is no header: ${line.slice(0, 80)}`);
    headers.add(...field);
  }
  const host = headers.get('host');
  if (host === undefined && !/^https?:/.test(target)) return failed('The request has no Host header.');
  return ok({ method, url: target.startsWith('/') ? `https://${host}${target}` : target, headers: headers.all() });
}
