/**
 * A request that somebody pastes to test policies on: the reference of a logged one, an address, the JSON that the API
 * takes, a `curl` command, or HTTP as a browser's tools or a log show it (`GET /path HTTP/1.1`, then headers).
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { failed, ok, type Result } from '../../result.ts';
import { shellWords } from './shell-words.ts';

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

interface PastedRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
}

const HEADER = /^([^\s:]+):(.*)$/;

/** Name in lower case, and value. `null`: not a header. */
function headerOf(line: string): [name: string, value: string] | null {
  const [, name, value = ''] = HEADER.exec(line.trim()) ?? [];
  return name === undefined ? null : [name.toLowerCase(), value.trim()];
}

/** Headers of a pasted request. One that comes several times is one text, joined with commas, as policies see it. */
class HeaderFields {
  readonly #fields = new Map<string, string>();

  get(name: string): string | undefined {
    return this.#fields.get(name);
  }

  set(name: string, value: string): void {
    this.#fields.set(name, value);
  }

  add(name: string, value: string): void {
    const known = this.#fields.get(name);
    // RFC 9113 section 8.2.3: a cookie header may come in pieces.
    this.#fields.set(name, known === undefined ? value : `${known}${name === 'cookie' ? '; ' : ', '}${value}`);
  }

  /** Unless there is one already. */
  offer(name: string, value: string): void {
    if (!this.#fields.has(name)) this.#fields.set(name, value);
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#fields);
  }
}

/** By their long names. What has no effect on the request is skipped with its value. */
const VALUED: Readonly<Record<string, string>> = {
  '-H': '--header',
  '-X': '--request',
  '-A': '--user-agent',
  '-b': '--cookie',
  '-e': '--referer',
  '-u': '--user',
  '-d': '--data',
  '-F': '--form',
  '-o': '--output',
  '-m': '--max-time',
  '-w': '--write-out',
  '-x': '--proxy',
  '-c': '--cookie-jar',
};
const VALUED_LONG: readonly string[] = [
  ...Object.values(VALUED),
  '--url',
  '--json',
  '--data-raw',
  '--data-binary',
  '--data-ascii',
  '--data-urlencode',
  '--resolve',
  '--connect-timeout',
  '--retry',
  '--cacert',
  '--cert',
  '--key',
];
const DATA: readonly string[] = [
  '--data',
  '--data-raw',
  '--data-binary',
  '--data-ascii',
  '--data-urlencode',
  '--form',
  '--json',
];
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const PLAIN_HEADERS: Readonly<Record<string, string>> = {
  '--user-agent': 'user-agent',
  '--cookie': 'cookie',
  '--referer': 'referer',
};

interface Option {
  name: string;
  value: string;
}

/** A `curl` command as browsers copy it and people write it, as the request that it sends. Bodies are not compared. */
function readCurl(command: string): Result<PastedRequest, string> {
  const words = shellWords(command);
  if (!words.ok) return words;
  const options = optionsOf(words.value.slice(1));
  if (!options.ok) return options;
  const headers = new HeaderFields();
  const urls: string[] = [];
  let method: string | null = null;
  let isGet = false;
  const data: string[] = [];
  let contentType: string | null = null;
  for (const { name, value } of options.value) {
    if (name === '' || name === '--url') urls.push(value);
    else if (name === '--request') method = value.toUpperCase();
    else if (name === '--head') method ??= 'HEAD';
    else if (name === '--get') isGet = true;
    else if (name in PLAIN_HEADERS) headers.set(PLAIN_HEADERS[name]!, value);
    else if (name === '--user') headers.set('authorization', `Basic ${base64(value)}`);
    else if (DATA.includes(name)) {
      data.push(value);
      contentType ??= name === '--form' ? 'multipart/form-data' : name === '--json' ? 'application/json' : null;
    } else if (name === '--header') {
      const field = headerOf(value.replace(/;$/, ':'));
      if (field === null) return failed(`This is no header: ${value.slice(0, 80)}`);
      if (field[1] !== '' || value.endsWith(';')) headers.add(...field);
    }
  }
  // An option that is not known here could have left its value behind.
  const url = urls.find((one) => SCHEME.test(one)) ?? urls[0];
  if (url === undefined) return failed('The command has no address.');
  const isBody = data.length > 0 && !isGet;
  headers.offer('user-agent', 'curl/8');
  headers.offer('accept', contentType === 'application/json' ? contentType : '*/*');
  if (isBody) headers.offer('content-type', contentType ?? 'application/x-www-form-urlencoded');
  const address = SCHEME.test(url) ? url : `http://${url}`;
  const query = isGet && data.length > 0 ? `${address.includes('?') ? '&' : '?'}${data.join('&')}` : '';
  return ok({ url: address + query, method: method ?? (isBody ? 'POST' : 'GET'), headers: headers.all() });
}

/** A word without an option has the name ''. Short options may be joined, and have their value attached. */
function optionsOf(words: readonly string[]): Result<Option[], string> {
  const options: Option[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (!word.startsWith('-') || word === '-') {
      options.push({ name: '', value: word });
      continue;
    }
    const [long = '', inline] = word.startsWith('--') ? split(word, '=') : [];
    const short = word.startsWith('--') ? null : shortOption(word);
    const name = short?.name ?? long;
    if (!VALUED_LONG.includes(name)) {
      options.push({ name, value: '' });
      continue;
    }
    const value = short?.attached || inline || words[++at];
    if (value === undefined) return failed(`The option ${name} has no value.`);
    options.push({ name, value });
  }
  return ok(options);
}

/** The first of joined short options that takes a value, as in `-sSH 'x: y'`; `-I` and `-G` say what is sent. */
function shortOption(word: string): { name: string; attached: string } {
  for (let at = 1; at < word.length; at++) {
    const name = VALUED[`-${word.charAt(at)}`];
    if (name !== undefined) return { name, attached: word.slice(at + 1) };
  }
  return { name: word.includes('I') ? '--head' : word.includes('G') ? '--get' : word, attached: '' };
}

function split(word: string, sign: string): [string, string | undefined] {
  const at = word.indexOf(sign);
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
