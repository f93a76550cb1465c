/**
 * Compares two texts in time that depends on the length of the first alone. For shared secrets that
 * arrive in headers; both are short.
 */
export function isSameSecret(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let index = 0; index < given.length; index++) {
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index % expected.length);
  }
  return difference === 0;
}
