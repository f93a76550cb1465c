/**
 * The day's RSW parameters in D1, made once per deployment. The first isolate to insert a row wins, and all isolates
 * read that row. The values are public and therefore not sealed.
 */
import { statement } from '../sql.ts';
import { generateRswKey, type RswKey } from '../../captcha/pow/rsw-key.ts';
import type { StoreEnv } from '../binding.ts';

/** A row is used for one day; a week of them is kept for inspection. */
const KEEP_DAYS = 7;

interface PowKeyRow {
  day: number;
  modulus: string;
  generator: string;
  levels: string;
}

/** The parameters of a day, generated (about 0.3 s) if they do not exist yet. */
export async function powKeyOfDay(env: StoreEnv, day: number, nowMs: number): Promise<RswKey> {
  const stored = await readPowKey(env, day);
  if (stored !== null) return stored;
  const made = await generateRswKey(day);
  await env.DB.batch([
    statement(env)`
      INSERT INTO pow_keys (day, modulus, generator, levels, created_at) VALUES (${day}, ${made.modulus.toString(16)},
        ${made.generator.toString(16)}, ${JSON.stringify(made.levels.map((value) => value.toString(16)))}, ${nowMs})
        ON CONFLICT DO NOTHING`,
    statement(env)`DELETE FROM pow_keys WHERE day < ${day - KEEP_DAYS}`,
  ]);
  const agreed = await readPowKey(env, day);
  if (agreed === null) throw new Error(`pow_keys has no row for day ${day} after inserting it`);
  return agreed;
}

/** Makes the parameters of these days, where they do not exist yet. */
export async function preparePowKeys(env: StoreEnv, days: readonly number[], nowMs: number): Promise<void> {
  const { results } = await statement(env)`
    SELECT day FROM pow_keys
    WHERE day IN (SELECT value FROM json_each(${JSON.stringify(days)}))`.all<{ day: number }>();
  const stored = new Set(results.map(({ day }) => day));
  for (const day of days) if (!stored.has(day)) await powKeyOfDay(env, day, nowMs);
}

async function readPowKey(env: StoreEnv, day: number): Promise<RswKey | null> {
  const row = await statement(env)`SELECT * FROM pow_keys WHERE day = ${day}`.first<PowKeyRow>();
  if (row === null) return null;
  const levels = JSON.parse(row.levels) as string[];
  return {
    day: row.day,
    modulus: BigInt(`0x${row.modulus}`),
    generator: BigInt(`0x${row.generator}`),
    levels: levels.map((value) => BigInt(`0x${value}`)),
  };
}
