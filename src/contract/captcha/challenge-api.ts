/**
 * The widget's API on the service (design 5): `POST /captcha/v1/challenge` and `POST /captcha/v1/solution`.
 * Public and CORS-open; the edge passes them on first-party under `/__protect/` with its client JWT
 * and the visitor's signals, which are believed only with that JWT. The service picks kind and lane.
 */
import * as z from 'zod/mini';
import { TOKEN_MAX_CHARS } from './challenge-terms.ts';
import { challengeKinds, powLanes } from '../vocabulary.ts';
import { edgeVisitor } from '../edge/edge-api.ts';

export * from './challenge-terms.ts';

export const action = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/));

export const challengeRequest = z.strictObject({
  siteKey: z.string().check(z.minLength(1), z.maxLength(256)),
  action: z.optional(action),
  /** Opaque to us, returned by the Turnstile-shaped alias. */
  cdata: z.optional(z.string().check(z.maxLength(255))),
  /** Page that shows the widget; the service trusts the `Origin` header before it. */
  currentUrl: z.optional(z.string().check(z.maxLength(2048))),
  /** What this browser can run; can only make the work slower, never cheaper. */
  capabilities: z.optional(
    z.strictObject({
      bigint: z._default(z.boolean(), true),
      worker: z._default(z.boolean(), true),
      /** `false`: no JavaScript at all. The answer is then a `wait` task, or a refusal. */
      script: z._default(z.boolean(), true),
      /** The visitor asked for the task that needs no eyes. */
      audio: z._default(z.boolean(), false),
    }),
  ),
  sessionId: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._-]{1,256}$/))),
  visitor: z.optional(edgeVisitor),
});
export type ChallengeRequest = z.infer<typeof challengeRequest>;

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]*$/));

/** RSW: `y = x^(2^t) mod n`, big-endian base64url. SHA-256: see `challenge/pow-sha256.ts`. Wait: nothing. */
export const powTask = z.strictObject({
  lane: z.enum(powLanes),
  t: z.optional(z.int()),
  n: z.optional(base64url),
  x: z.optional(base64url),
  salt: z.optional(base64url),
  count: z.optional(z.int()),
  bits: z.optional(z.int()),
  /** `wait`: hand in `{}` after this many milliseconds, not before this moment of the service's clock. */
  waitMs: z.optional(z.int()),
  notBefore: z.optional(z.int()),
});
export type PowTask = z.infer<typeof powTask>;

/** Rows of 4-bit palette indexes, two pixels a byte, left one in the high half; drawn on a canvas, so no CSP stands in the way. */
export const picture = z.strictObject({
  width: z.int(),
  height: z.int(),
  /** 16 colours of three bytes each, base64url. */
  palette: base64url,
  pixels: base64url,
});
export type Picture = z.infer<typeof picture>;

/** Shapes a picture can show; the widget names them in the visitor's language. */
export const shapeNames = ['circle', 'triangle', 'square', 'star', 'heart', 'moon', 'cross', 'arrow'] as const;
export type ShapeName = (typeof shapeNames)[number];

/** "Choose all pictures that show a …". Solution: `{selected: number[]}`, indexes in reading order. */
export const imageTask = z.strictObject({
  shape: z.enum(shapeNames),
  columns: z.int(),
  rows: z.int(),
  /** From 1; `rounds` is the least there will be. */
  round: z.int(),
  rounds: z.int(),
  picture,
});
export type ImageTask = z.infer<typeof imageTask>;

/**
 * "Move the piece to where it fits", by pointer or arrow keys, in both directions. Solution: `{finalX,
 * finalY, path?}`, the piece's top left corner in pixels of the background; `path` is a list of
 * `[x, y, milliseconds]`, 1,000 at most.
 */
export const puzzleTask = z.strictObject({
  background: picture,
  /** Index 0 of its palette is transparent. */
  piece: picture,
  originX: z.int(),
  originY: z.int(),
});
export type PuzzleTask = z.infer<typeof puzzleTask>;

/** The task that needs no eyes: groups of tones to be counted. Solution: `{digits: "3142"}`, a digit a group. */
export const audioTask = z.strictObject({
  /** Unsigned 8-bit mono samples, base64url. */
  samples: base64url,
  sampleRate: z.int(),
  groups: z.int(),
  /** Most tones in one group. */
  most: z.int(),
});
export type AudioTask = z.infer<typeof audioTask>;

/** A field that people leave empty and scripts fill in; handed in as `honeypot`. */
export const honeypotField = z.strictObject({ name: z.string(), question: z.string() });

export const challengeAnswer = z.object({
  /** Noise that the site's `trafficFilter` puts before the answer; means nothing. */
  pad: z.optional(z.string()),
  jti: z.string(),
  kind: z.enum(challengeKinds),
  /** Sealed challenge, returned untouched with the solution. */
  challenge: z.string().check(z.maxLength(TOKEN_MAX_CHARS)),
  /** Epoch milliseconds by the service's clock. */
  expiresAt: z.int(),
  pow: z.optional(powTask),
  image: z.optional(imageTask),
  puzzle: z.optional(puzzleTask),
  /** Instead of `image` or `puzzle`, when the request said `capabilities.audio`. */
  audio: z.optional(audioTask),
  honeypot: z.optional(honeypotField),
});
export type ChallengeAnswer = z.infer<typeof challengeAnswer>;

export const solutionRequest = z.strictObject({
  challenge: z.string().check(z.minLength(1), z.maxLength(TOKEN_MAX_CHARS)),
  /** `pow` rsw: `{y}`; sha256: `{counters}`; wait: `{}`; image, puzzle and audio: see their tasks. */
  solution: z.record(z.string(), z.unknown()),
  /** What stood in the honeypot field; people leave it empty. */
  honeypot: z.optional(z.string().check(z.maxLength(1024))),
  visitor: z.optional(edgeVisitor),
});

/** `token` goes into the form field as `{"token": …}`. */
export const solutionAnswer = z.object({
  verified: z.boolean(),
  token: z.optional(z.string()),
  expiresAt: z.optional(z.int()),
  /** The clock that `expiresAt` is of, at the answer: a visitor's own may be hours off. */
  now: z.optional(z.int()),
  reason: z.optional(z.string()),
  /** A further round, or a fresh try. */
  next: z.optional(challengeAnswer),
});
export type SolutionAnswer = z.infer<typeof solutionAnswer>;
