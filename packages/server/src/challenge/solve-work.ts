/** Solves the proof of work of a challenge within bounds: the gate names the price, and this machine decides on it. */
import { solveRsw, solveSha256 } from '../../../../src/captcha/pow/pow-solve.ts';
import { ownField } from '../http/own-field.ts';
import { NotSolvedError } from './challenge-outcome.ts';

/** A hash in plain JavaScript takes as long as two squarings. */
const SQUARINGS_PER_HASH = 2;
/** 4,096 bits in base64url. A squaring of a longer modulus is not one of this price. */
const NUMBER_MAX_CHARS = 683;
const PUZZLES_MAX = 1024;

export interface WorkLimits {
  /** In squarings. */
  maxWork: number;
  isStopped: () => boolean;
}

/** @throws {NotSolvedError} for a task that is too large, or that this program does not know. */
export async function solveWork(task: unknown, { maxWork, isStopped }: WorkLimits): Promise<object> {
  const text = (name: string): string => {
    const value = ownField(task, name);
    return typeof value === 'string' ? value : '';
  };
  const number = (name: string): number => {
    const value = ownField(task, name);
    return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
  };
  const lane = text('lane');
  if (lane === 'rsw') {
    const [n, x, t] = [text('n'), text('x'), number('t')];
    if (n.length > NUMBER_MAX_CHARS || x.length > NUMBER_MAX_CHARS) throw unknownTask(lane);
    bound(t, maxWork);
    const y = /[^A]/.test(n) ? await solveRsw({ n, x, t }, undefined, isStopped) : null;
    if (y !== null) return { y };
  }
  if (lane === 'sha256') {
    const [salt, count, bits] = [text('salt'), number('count'), number('bits')];
    if (count > PUZZLES_MAX) throw unknownTask(lane);
    bound(count * 2 ** bits * SQUARINGS_PER_HASH, maxWork);
    const counters = count > 0 ? await solveSha256({ salt, count, bits }, undefined, isStopped) : null;
    if (counters !== null) return { counters };
  }
  throw unknownTask(lane);
}

function bound(work: number, maxWork: number): void {
  if (work > maxWork)
    throw new NotSolvedError('too-much-work', `${work} squarings are asked for, ${maxWork} are allowed.`);
}

function unknownTask(lane: string): NotSolvedError {
  return new NotSolvedError('not-understood', `The proof of work is not one of a known form: ${lane.slice(0, 20)}`);
}
