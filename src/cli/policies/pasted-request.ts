/**
 * A request to test policies on: the address of a page, the JSON that the API takes, or a request as a browser's tools or
 * a log show it (`GET /path HTTP/1.1`, then headers).
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { CommandError } from '../command-line.ts';
import { readText } from './condition.ts';

export type GivenRequest = { request: object } | { requestId: string };

const REFERENCE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const REQUEST_LINE = /^([A-Z]{1,16}) (\S+)(?: HTTP\/[\d.]+)?$/;
const HEADER = /^([^\s:]+):[ \t]*(.*)$/;

/** `word`: a reference, an address, or a file (`-`: standard input). @throws CommandError */
export function readRequest(word: string): GivenRequest {
  if (REFERENCE.test(word)) return { requestId: word };
  if (/^https?:\/\//.test(word)) return { request: { url: word } };
  const text = readText(word);
  if (text.trimStart().startsWith('{')) {
    const request = parseJson(text);
    if (isJsonObject(request)) return { request };
  }
  return { request: readHttp(text) };
}

function readHttp(text: string): object {
  const [first = '', ...lines] = text.split(/\r?\n/);
  const [, method, target = ''] = REQUEST_LINE.exec(first.trim()) ?? [];
  if (method === undefined) {
    throw new CommandError('A request begins with a line such as "GET /path HTTP/1.1", or it is JSON with a url.');
  }
  const headers: Record<string, string> = {};
  for (const line of lines) {
    if (line.trim() === '') break;
    const [, name, value = ''] = HEADER.exec(line.trim()) ?? [];
    if (name === undefined) throw new CommandError(`This is no header: ${line.slice(0, 80)}`);
    const known = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`;
  }
  const host = headers['host'];
  if (host === undefined && !/^https?:/.test(target)) throw new CommandError('The request has no Host header.');
  return { method, url: target.startsWith('/') ? `https://${host}${target}` : target, headers };
}
