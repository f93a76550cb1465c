/** A `curl` command as browsers copy it and people write it, as the request that it sends. Bodies are not compared. */
import { failed, ok, type Result } from '../../result.ts';
import { HeaderFields, headerOf, type PastedRequest } from './header-fields.ts';
import { shellWords } from './shell-words.ts';

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

export function readCurl(command: string): Result<PastedRequest, string> {
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
