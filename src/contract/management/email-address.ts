/** The address of a team member (interface document 2.6): enough to be one, and nothing that would break a mail's header. */
import * as z from 'zod/mini';

export const emailAddress = z
  .string()
  .check(z.trim(), z.maxLength(320), z.regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address'));
