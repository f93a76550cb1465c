/** Fields of what edges send about limits. The edge is of the operator, so they are bounded, and nothing more. */
import * as z from 'zod/mini';

/** `page 192.0.2.0/24`, or a signed key. */
export const limitCounterKey = z
  .string()
  .check(z.minLength(1), z.maxLength(96), z.regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/));
/** A second to a day. */
export const limitWindowMs = z.int().check(z.gte(1000), z.lte(86_400_000));
/** Of a limit, and of the companions and larger networks of its key: no larger count leaves an edge. */
export const limitCount = z.int().check(z.gte(1), z.lte(10_000_000));
