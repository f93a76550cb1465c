/**
 * The least time that a person needs for a task, from the issue of its round by the service's clock. It includes the
 * way of the task to the browser, which only makes it longer. An answer before that time comes from a program, however
 * right it is. The bounds are far below what anybody needs, and tools for accessibility only make an answer slower.
 */
import type { SealedChallenge } from '../seal/sealed-challenge.ts';
import { AUDIO_SECONDS } from './audio/audio-task.ts';

/** Nine pictures to look at, two or more to press, and the button: about three seconds for quick hands. */
const IMAGE_MS = 1500;
/** A hole to find, one press or drag, and the button: about two seconds for quick hands. */
const PUZZLE_MS = 1000;
/** The recording plays at its own speed. Somebody may guess the rest of it, but hears at least this share. */
const HEARD_SHARE = 0.6;

export function answeredTooSoon(
  { kind, lane, issuedAt }: Pick<SealedChallenge, 'kind' | 'lane' | 'issuedAt'>,
  nowMs: number,
): boolean {
  return nowMs - issuedAt < leastMs(kind, lane);
}

function leastMs(kind: SealedChallenge['kind'], lane: SealedChallenge['lane']): number {
  if (lane === 'audio') return Math.round(AUDIO_SECONDS * 1000 * HEARD_SHARE);
  return kind === 'puzzle' ? PUZZLE_MS : IMAGE_MS;
}
