/**
 * The address of a team member: the form of an address, and no characters that would break a mail header, or turn into a
 * letter of somebody else's address.
 */
import * as z from 'zod/mini';

export const emailAddress = z.string().check(
  z.trim(),
  z.maxLength(320),
  z.regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address'),
  z.refine((text) => !hasDisguisedAscii(text), 'has a character that stands for another one'),
);

/** Addresses are compared in lower case and in NFC, where the Kelvin sign is a k: another mailbox, but the same user. */
function hasDisguisedAscii(text: string): boolean {
  const local = text.slice(0, text.lastIndexOf('@'));
  return Array.from(local).some((char) => char > '\u007F' && char.normalize('NFC').toLowerCase() <= '\u007F');
}
