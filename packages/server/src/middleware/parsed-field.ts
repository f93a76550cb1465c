/** Finds the token in a request whose body a framework's parser has read, such as those of Express and Fastify. */
import { ownField } from '../http/own-field.ts';
import type { FieldOptions } from './guard.ts';
import { fieldNames, isForm, type SubmittedField } from './submitted-field.ts';

export interface ParsedRequest {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: unknown;
}

export function parsedField({ headers, body }: ParsedRequest, options: FieldOptions): SubmittedField {
  const { field, header } = fieldNames(options);
  const sent = Object.hasOwn(headers, header) ? headers[header] : undefined;
  if (sent !== undefined) return { value: sent };
  const value = ownField(body, field);
  if (value !== undefined) return { value: partOf(value) };
  const contentType = headers['content-type'];
  const isUnparsed = body === undefined && typeof contentType === 'string' && isForm(contentType);
  return isUnparsed ? { why: 'unparsed' } : { value: undefined };
}

/** Parsers of multipart forms wrap a field's text in an object with `value`. */
function partOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'value')
    ? (value as { value: unknown }).value
    : value;
}
