/** The address of a team member: the form of an address, and no characters that would break a mail header. */
import * as z from 'zod/mini';

export const emailAddress = z
  .string()
  .check(z.trim(), z.maxLength(320), z.regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address'));
