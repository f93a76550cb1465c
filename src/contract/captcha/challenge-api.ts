/**
 * The widget's API on the service: `POST /captcha/v1/challenge` and `POST /captcha/v1/solution`. Both are public and
 * open to CORS. An edge also offers them under `/__protect/` and adds the visitor's signals, which the service believes
 * only with the edge's client JWT. The service picks kind and lane.
 */
import * as z from 'zod/mini';
import type { Probes } from '../edge/probes.ts';
import { TOKEN_MAX_CHARS } from './challenge-constants.ts';
import { challengeKinds, powLanes } from '../vocabulary.ts';
import { edgeVisitor } from '../edge/edge-api.ts';

/** What the token is for. Pages written for reCAPTCHA have slashes in it. */
export const action = z.string().check(z.regex(/^[A-Za-z0-9_/-]{1,64}$/));
export const protectSessionId = z.string().check(z.regex(/^[A-Za-z0-9._-]{1,256}$/));

/** An account and two times take a fifth of it. */
const USER_TOKEN_MAX_CHARS = 4096;
/** The name of a visitor's account, as the site has it. */
export const userAccount = z.string().check(z.minLength(1), z.maxLength(256));

export const challengeRequest = z.strictObject({
  siteKey: z.string().check(z.minLength(1), z.maxLength(256)),
  action: z.optional(action),
  /** Opaque here; the Turnstile-shaped alias returns it. */
  cdata: z.optional(z.string().check(z.maxLength(255))),
  /** Page that shows the widget. The `Origin` header counts first. */
  currentUrl: z.optional(z.string().check(z.maxLength(2048))),
  /** What this browser can run. It can make the work slower, never cheaper. */
  capabilities: z.optional(
    z.strictObject({
      bigint: z._default(z.boolean(), true),
      worker: z._default(z.boolean(), true),
      /** `false`: no JavaScript at all. The task is then `wait`, or the request is refused. */
      script: z._default(z.boolean(), true),
      /** The visitor asked for the task that needs no eyes. */
      audio: z._default(z.boolean(), false),
    }),
  ),
  /** Whether the page is in a frame, as the page says. */
  iFrame: z.optional(z.boolean()),
  /** Who the visitor is to the site: a JWT (HS256) that its backend signed with the site's secret key. */
  userToken: z.optional(z.string().check(z.maxLength(USER_TOKEN_MAX_CHARS))),
  /** The lowest level that counts where the visitor wants to go. It makes the challenge harder, never easier. */
  level: z.optional(z.int().check(z.gte(0), z.lte(2))),
  sessionId: z.optional(protectSessionId),
  visitor: z.optional(edgeVisitor),
});
export type ChallengeRequest = z.infer<typeof challengeRequest>;

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]*$/));

/** RSW: `y = x^(2^t) mod n`, big-endian base64url. SHA-256: see `captcha/pow/pow-sha256.ts`. Wait: nothing. */
export const powTask = z.strictObject({
  lane: z.enum(powLanes),
  t: z.optional(z.int()),
  n: z.optional(base64url),
  x: z.optional(base64url),
  salt: z.optional(base64url),
  count: z.optional(z.int()),
  bits: z.optional(z.int()),
  /** `wait`: send `{}` after this many milliseconds, and not before this time of the service's clock. */
  waitMs: z.optional(z.int()),
  notBefore: z.optional(z.int()),
});
export type PowTask = z.infer<typeof powTask>;

/** Pixels of the light plane that share one value of a colour plane, in each direction. */
export const COLOUR_STEP_PX = 4;

/**
 * A full-tone picture as planes of bytes, row by row, for a canvas, so no CSP blocks it. `light`: one byte a pixel, 0 is
 * transparent. `colour`: the blue and then the red difference of ITU-R BT.601, 128 is none, a plane of a quarter of the
 * width and height each, rounded up.
 */
export const picture = z.strictObject({
  width: z.int(),
  height: z.int(),
  light: base64url,
  colour: base64url,
});
export type Picture = z.infer<typeof picture>;

/** Shapes that a picture can show. The widget names them in the visitor's language. */
export const shapeNames = ['circle', 'triangle', 'square', 'star', 'heart', 'moon', 'cross', 'arrow'] as const;
export type ShapeName = (typeof shapeNames)[number];

/** "Choose all pictures that show a …". Solution: `{selected: number[]}`, indexes in reading order. */
export const imageTask = z.strictObject({
  shape: z.enum(shapeNames),
  columns: z.int(),
  rows: z.int(),
  /** From 1. At least `rounds` rounds follow. */
  round: z.int(),
  rounds: z.int(),
  picture,
});
export type ImageTask = z.infer<typeof imageTask>;

/**
 * "Move the circle onto the same shape", by pointer or arrow keys, in both directions. Solution: `{finalX,
 * finalY, path?}`, the piece's top left corner in pixels of the background; `path` is a list of
 * `[x, y, milliseconds]`, 1,000 at most.
 */
export const puzzleTask = z.strictObject({
  background: picture,
  piece: picture,
  originX: z.int(),
  originY: z.int(),
});
export type PuzzleTask = z.infer<typeof puzzleTask>;

/** The task that needs no eyes: type the digits that the loudest voice says in English. Solution: `{digits: "31407"}`. */
export const audioTask = z.strictObject({
  /** Unsigned 8-bit mono samples, base64url. */
  samples: base64url,
  sampleRate: z.int(),
  /** Number of digits. */
  digits: z.int(),
});
export type AudioTask = z.infer<typeof audioTask>;

/** A field that people leave empty and scripts fill in; sent as `honeypot`. */
export const honeypotField = z.strictObject({ name: z.string(), question: z.string() });

export const challengeResponse = z.object({
  /** Noise that the site's `trafficFilter` adds; it has no meaning. */
  pad: z.optional(z.string()),
  jti: z.string(),
  kind: z.enum(challengeKinds),
  /** Sealed challenge, returned untouched with the solution. */
  challenge: z.string().check(z.maxLength(TOKEN_MAX_CHARS)),
  /** Epoch milliseconds by the service's clock. */
  expiresAt: z.int(),
  /**
   * First of every kind. The solution of an image's or a puzzle's `pow` returns the picture as `next`. A picture or
   * recording may have a further one beside it: its solution goes into the same `solution`, or alone before it, which
   * returns the picture again without `pow`.
   */
  pow: z.optional(powTask),
  image: z.optional(imageTask),
  puzzle: z.optional(puzzleTask),
  /** Instead of `image` or `puzzle`, when the request said `capabilities.audio`. */
  audio: z.optional(audioTask),
  honeypot: z.optional(honeypotField),
  /** The site's page on privacy, with a task for a person. */
  privacyUrl: z.optional(z.string()),
});
export type ChallengeResponse = z.infer<typeof challengeResponse>;

export const solutionRequest = z.strictObject({
  challenge: z.string().check(z.minLength(1), z.maxLength(TOKEN_MAX_CHARS)),
  /**
   * `pow` rsw: `{y}`; sha256: `{counters}`; wait: `{}`; image, puzzle and audio: see their tasks. `{audio: boolean}` asks
   * for a recording instead of a picture or the other way round, once in a challenge.
   */
  solution: z.record(z.string(), z.unknown()),
  /** Content of the honeypot field; people leave it empty. */
  honeypot: z.optional(z.string().check(z.maxLength(1024))),
  visitor: z.optional(edgeVisitor),
});

/** `token` goes into the form field as `{"token": …}`. */
export const solutionResponse = z.object({
  verified: z.boolean(),
  token: z.optional(z.string()),
  expiresAt: z.optional(z.int()),
  /** The service's clock at this response, to compare `expiresAt` with. A visitor's clock may be hours off. */
  now: z.optional(z.int()),
  reason: z.optional(z.string()),
  /** The picture or recording after its proof of work, a further round, or a new try. */
  next: z.optional(challengeResponse),
});
export type SolutionResponse = z.infer<typeof solutionResponse>;

/** What `POST /__protect/session` returns instead of a session: work that earns one. */
export interface SessionChallenge {
  /** Sealed; the page returns it untouched with the solution. */
  challenge: string;
  pow: PowTask;
  /** Epoch milliseconds, by the clock of the service or, in an outage, of the edge. */
  expiresAt: number;
  /** What the report of the browser has to answer. Absent where no report is judged. */
  probes?: Probes;
}
