/**
 * `POST /protect/bots/traffic`: said, did, came anyway. Which bots came and what they got, exact, from the rollups; and
 * what robots.txt tells each of them. Impostors are apart from the bots whose names they use.
 */
import {
  type BotTraffic,
  botTrafficRequest,
  botTrafficResponse,
  type ImpostorTraffic,
} from '../../../../contract/management/bot-traffic.ts';
import { SUSPECTED_AGENT } from '../../../../bots/bot-proof.ts';
import type { BotBehaviour } from '../../../../contract/vocabulary.ts';
import { readBotPath, readBotValue } from '../../../../store/event-log/bot-counts.ts';
import { countValues } from '../../../../store/event-log/client/verdict-log.ts';
import { botCatalogue } from '../../../bots/bot-catalogue.ts';
import { namedBots } from '../../../bots/served-robots.ts';
import { protectOperation } from '../../define-operation.ts';
import { outcomeCounts } from '../verdicts/outcome-counts.ts';
import { BOT_VALUES_MAX } from '../verdicts/split-by-bot.ts';
import { distinctWindow, logTarget } from '../verdicts/verdict-log-query.ts';
import { compareWithRobots } from './robots-comparison.ts';

const DAY_MS = 86_400_000;
/** As many as an hour counts one by one. */
const PATHS_MAX = 20_000;

export const getBotTraffic = protectOperation({
  name: 'get-bot-traffic',
  path: '/protect/bots/traffic',
  access: 'read',
  summary: 'Which bots came, what robots.txt told them and what they got',
  body: botTrafficRequest,
  response: botTrafficResponse,
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const { log, instance, horizon } = await logTarget(context, body.siteKey);
    const since = body.since ?? (body.until ?? nowMs) - DAY_MS;
    const window = distinctWindow({ since, until: body.until }, horizon, nowMs);
    const counted = { ...window, outcomes: null, excludeInternal: !body.includeInternal };
    const [{ values: all }, values, paths, named] = await Promise.all([
      countValues(store, log, 'none', counted, 1),
      countValues(store, log, 'bot', counted, BOT_VALUES_MAX),
      countValues(store, log, 'bot_path', counted, PATHS_MAX),
      namedBots(store, account.id),
    ]);
    const total = all[0] === undefined ? 0 : outcomeCounts(all[0].counts).total;
    const known = new Map(named.map((bot) => [bot.id, bot]));
    const { bots, impostors } = trafficOf(values.values, total);
    const listed = new Set(bots.slice(0, body.limit).map(({ id }) => id));
    const asked = paths.values.flatMap(({ value, counts }) => {
      const path = value === null ? null : readBotPath(value);
      if (path === null || path.proof === 'impostor' || path.proof === 'suspected' || !listed.has(path.id)) return [];
      return [{ ...path, total: outcomeCounts(counts).total }];
    });
    const robots = await compareWithRobots(store, instance, asked, (id) => known.get(id)?.tokens ?? []);
    const rest = [...bots.slice(body.limit), ...impostors.slice(body.limit)];
    return {
      since: window.since,
      until: window.until,
      total,
      bots: bots.slice(0, body.limit).map((bot) => ({
        ...bot,
        behaviours: [...behavioursOf(bot.id, known)],
        robots: robots.byBot.get(bot.id) ?? null,
      })),
      impostors: impostors.slice(0, body.limit),
      other: { bots: rest.length, total: rest.reduce((sum, bot) => sum + bot.total, 0) },
      isExact: values.more === 0 && !values.lumped,
      robotsIsExact: robots.isExact && paths.more === 0 && !paths.lumped,
    };
  },
});

/** An agent that the catalogue does not have is known by its signature alone. */
function behavioursOf(id: string, known: ReadonlyMap<string, { behaviours: readonly BotBehaviour[] }>) {
  if (id === SUSPECTED_AGENT.id) return SUSPECTED_AGENT.behaviours;
  return known.get(id)?.behaviours ?? (['agent'] as const);
}

type CountedTraffic = Omit<BotTraffic, 'behaviours' | 'robots'>;

/** Most requests first. */
function trafficOf(
  values: Awaited<ReturnType<typeof countValues>>['values'],
  total: number,
): { bots: CountedTraffic[]; impostors: ImpostorTraffic[] } {
  const bots = new Map<string, CountedTraffic>();
  const impostors = new Map<string, ImpostorTraffic>();
  const catalogue = new Map(botCatalogue.bots.map((bot) => [bot.id, bot]));
  for (const { value, counts } of values) {
    const bot = value === null ? null : readBotValue(value);
    if (bot === null) continue;
    const { id, proof, isCharged } = bot;
    const { name = null, operator = null } = catalogue.get(id) ?? {};
    const none = { total: 0, allow: 0, challenge: 0, block: 0, charge: 0 };
    const proofs = { range: 0, dns: 0, signature: 0, claimed: 0, suspected: 0 };
    const row =
      proof === 'impostor'
        ? found(impostors, id, () => ({ id, name, ...none, share: 0 }))
        : found(bots, id, () => ({ id, name, operator, ...none, share: 0, proofs }));
    const got = outcomeCounts(counts);
    row.total += got.total;
    row.share = total === 0 ? 0 : Math.min(1, row.total / total);
    if (isCharged) row.charge += got.total;
    else for (const outcome of ['allow', 'challenge', 'block'] as const) row[outcome] += got[outcome];
    if (proof !== 'impostor') (row as CountedTraffic).proofs[proof] += got.total;
  }
  return { bots: sorted(bots), impostors: sorted(impostors) };
}

function found<Row>(rows: Map<string, Row>, id: string, make: () => Row): Row {
  const row = rows.get(id) ?? make();
  rows.set(id, row);
  return row;
}

function sorted<Row extends { id: string; total: number }>(rows: ReadonlyMap<string, Row>): Row[] {
  return [...rows.values()].sort((a, b) => b.total - a.total || (a.id < b.id ? -1 : 1));
}
