/** The words of a command as a POSIX shell reads them, with the quotes that browsers write when they copy one. */
import { failed, ok, type Result } from '../../result.ts';

const SPACE = /[ \t\r\n]/;
/** What else of a shell a command could have. None of it belongs to one request. */
const OPERATOR = /[|&;<>()`$]/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const CODE = /^(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/;
const CODE_MAX_CHARS = 5;

export function shellWords(command: string): Result<string[], string> {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < command.length) {
    const char = command.charAt(at);
    const isAnsi = char === '$' && command.charAt(at + 1) === "'";
    if (char === "'" || char === '"' || isAnsi) {
      const quoted = isAnsi
        ? ansiQuoted(command, at + 2)
        : char === "'"
          ? singleQuoted(command, at + 1)
          : doubleQuoted(command, at + 1);
      if (quoted === null) return failed('A quote of the command is not closed.');
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (char === '\\') {
      const next = command.slice(at + 1, at + 3);
      const isLineEnd = /^\r?\n/.test(next);
      if (!isLineEnd) word = (word ?? '') + next.charAt(0);
      at += isLineEnd && next.startsWith('\r') ? 3 : 2;
    } else if (SPACE.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      at += 1;
    } else {
      if (OPERATOR.test(char)) return failed(`The command has a "${char}" outside of quotes. Paste one curl command.`);
      word = (word ?? '') + char;
      at += 1;
    }
  }
  if (word !== null) words.push(word);
  return ok(words);
}

interface Quoted {
  text: string;
  /** Behind the closing quote. */
  end: number;
}

function singleQuoted(command: string, from: number): Quoted | null {
  const end = command.indexOf("'", from);
  return end < 0 ? null : { text: command.slice(from, end), end: end + 1 };
}

function doubleQuoted(command: string, from: number): Quoted | null {
  const parts: string[] = [];
  for (let at = from; at < command.length; at++) {
    const char = command.charAt(at);
    if (char === '"') return { text: parts.join(''), end: at + 1 };
    const next = command.charAt(at + 1);
    if (char !== '\\' || !'"\\$`\n'.includes(next)) parts.push(char);
    else {
      if (next !== '\n') parts.push(next);
      at += 1;
    }
  }
  return null;
}

/** `$'…'`, which browsers write around line ends and characters that are not ASCII. */
function ansiQuoted(command: string, from: number): Quoted | null {
  const parts: string[] = [];
  for (let at = from; at < command.length; at++) {
    const char = command.charAt(at);
    if (char === "'") return { text: parts.join(''), end: at + 1 };
    if (char !== '\\') {
      parts.push(char);
      continue;
    }
    const escape = command.slice(at + 1, at + 1 + CODE_MAX_CHARS);
    const code = CODE.exec(escape);
    const first = escape.charAt(0);
    parts.push(code ? String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? '', 16)) : (ESCAPES[first] ?? first));
    at += code ? code[0].length : 1;
  }
  return null;
}
