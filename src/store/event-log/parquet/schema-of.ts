/** The columns of each stream. */
import { captchaSchema } from './captcha-schema.ts';
import type { StreamSchema } from './stream-schema.ts';
import { telemetrySchema } from './telemetry-schema.ts';
import { verdictSchema } from './verdict-schema.ts';

const schemas = { verdicts: verdictSchema, captcha: captchaSchema, telemetry: telemetrySchema };

export function schemaOf(stream: string): StreamSchema {
  const schema = Object.entries(schemas).find(([name]) => name === stream)?.[1];
  if (schema === undefined) throw new Error(`The log has no stream ${stream}`);
  // What differs between streams is only which columns a row has.
  return schema as unknown as StreamSchema;
}
