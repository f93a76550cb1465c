/** One spelling of a URL's escapes: unreserved characters as they are, every other escape in capitals (RFC 3986, 6.2.2). */
export function spelledEscapes(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}
