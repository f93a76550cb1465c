/**
 * What a page finds out about its browser before it opens a session, so that the service can compare it with what the
 * browser claims to be. Yes or no, kinds and versions only: nothing in it tells one person's browser from another's of
 * the same make. The page sends it with `POST /__protect/session`. See docs/privacy.md and docs/risk.md.
 */
import * as z from 'zod/mini';
import {
  environmentSigns,
  familyMarks,
  languageFeatures,
  pageSystems,
  renderers,
  scriptEngines,
} from './environment-names.ts';
import { telemetryTraits } from './telemetry.ts';

const text = (maxChars: number) => z.string().check(z.maxLength(maxChars));
const some = <const Names extends readonly string[]>(names: Names) =>
  z.array(z.enum(names)).check(z.maxLength(names.length));

export const environmentReport = z.strictObject({
  v: z.literal(1),
  /** Signs of a driven browser, as telemetry names them. */
  traits: some(telemetryTraits),
  engine: z.enum(scriptEngines),
  marks: some(familyMarks),
  /** A bit for each of `languageFeatures`. */
  features: z.int().check(z.gte(0), z.lt(2 ** languageFeatures.length)),
  /** As the page sees it; compared with the header and not kept. */
  userAgent: text(512),
  system: z.enum(pageSystems),
  /** `navigator.userAgentData`, in the form of the headers; `null` where there is none. */
  hints: z.nullable(z.strictObject({ brands: text(256), mobile: z.boolean(), platform: text(32) })),
  /** `null`: no worker, or one that cannot draw. */
  renderer: z.nullable(z.enum(renderers)),
  signs: some(environmentSigns),
});
export type EnvironmentReport = z.infer<typeof environmentReport>;
