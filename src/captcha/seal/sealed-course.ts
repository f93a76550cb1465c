/**
 * What a challenge and the token of its solution both carry: which challenge it was, of which site and page, how hard,
 * and for whom. It is written and read here once, so that nothing can be in one of the two seals and not in the other.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import * as z from 'zod/mini';
import { encodeHex } from '../../bytes/hex.ts';
import { powDifficulty } from '../../contract/management/site-settings.ts';
import { type ChallengeKind, challengeKinds } from '../../contract/vocabulary.ts';
import { hexField, jsonField, numberField, readJson, readNumber, readText, textField } from './field-encoding.ts';
import { type SealedFacts, sealedFacts } from './sealed-facts.ts';

/** How the visitor solves it. `visual` and `audio` are the two forms of image and puzzle. */
const challengeLanes = ['rsw', 'sha256', 'wait', 'visual', 'audio'] as const;
export type ChallengeLane = (typeof challengeLanes)[number];

const binding = z.string().check(z.maxLength(64));
/** The visitor as the edge described them when it asked. */
const sealedEdge = z.strictObject({
  /** Of the client JWT that asked. */
  instanceId: z.string().check(z.maxLength(256)),
  /** `visitorBinding` of network and user agent. */
  visitor: binding,
  /** The same of the user agent alone. It recognises a phone that has changed its address family since. */
  agent: binding,
  family: z.union([z.literal(4), z.literal(6)]),
});
export type SealedEdge = z.infer<typeof sealedEdge>;
const nullableEdge = z.nullable(sealedEdge);

export interface SealedCourse {
  /** 16 random bytes in hex: the same id in challenge, token, clearance and verdict. */
  jti: string;
  /** When this jti was first issued, in any round; epoch milliseconds. The spend ledger files it under this time. */
  bornAt: number;
  siteKey: string;
  hostname: string;
  action: string;
  cdata: string;
  kind: ChallengeKind;
  lane: ChallengeLane;
  /** Of the plan, without what a burst added. */
  powDifficulty: number;
  /** `null`: asked for by a browser, without an edge. */
  edge: SealedEdge | null;
  facts: SealedFacts;
}

/** The first fields of both seals. */
export const COURSE_FIELDS = 11;
const JTI_BYTES = 16;

export function newJti(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(JTI_BYTES)));
}

export function courseFields(course: SealedCourse): Bytes[] {
  return [
    hexField(course.jti),
    numberField(course.bornAt),
    textField(course.siteKey),
    textField(course.hostname),
    textField(course.action),
    textField(course.cdata),
    textField(course.kind),
    textField(course.lane),
    jsonField(course.powDifficulty),
    jsonField(course.edge),
    jsonField(course.facts),
  ];
}

export function readCourse(fields: readonly Bytes[]): SealedCourse | null {
  const jti = fields[0]!;
  const bornAt = readNumber(fields[1]!);
  const [siteKey, hostname, action, cdata, kindText, laneText] = fields.slice(2, 8).map(readText);
  const kind = challengeKinds.find((known) => known === kindText);
  const lane = challengeLanes.find((known) => known === laneText);
  const difficulty = powDifficulty.safeParse(readJson(fields[8]!));
  const edge = nullableEdge.safeParse(readJson(fields[9]!));
  const facts = sealedFacts.safeParse(readJson(fields[10]!));
  if (jti.length !== JTI_BYTES || bornAt === null || kind === undefined || lane === undefined) return null;
  if (siteKey == null || hostname == null || action == null || cdata == null) return null;
  if (!difficulty.success || !edge.success || !facts.success) return null;
  return {
    jti: encodeHex(jti),
    bornAt,
    siteKey,
    hostname,
    action,
    cdata,
    kind,
    lane,
    powDifficulty: difficulty.data,
    edge: edge.data,
    facts: facts.data,
  };
}
