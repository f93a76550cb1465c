/**
 * Writes a small segment of each stream as this version writes it, with its records beside it as NDJSON, so that the
 * tests read it with every later version: `node scripts/write-segment-fixtures.ts VERSION`. Run it before the version in
 * `segment-footer.ts` changes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaOf } from '../src/store/event-log/parquet/schema-of.ts';
import { noExtras, segmentMetadata } from '../src/store/event-log/parquet/segment-footer.ts';
import { SegmentWriter } from '../src/store/event-log/parquet/segment-writer.ts';
import { seededRandom, variedRecord } from '../test/support/verdict-record.ts';

const FIRST_AT_MS = 1_780_000_000_000;
const ROWS = 40;
const GROUP_ROWS = 25;

const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('Usage: write-segment-fixtures.ts VERSION');
const folder = join('test/fixtures/segments', version);
mkdirSync(folder, { recursive: true });
const random = seededRandom(28);
const whole = (below: number): number => Math.floor(random() * below);
const orNull = <T>(value: T): T | null => (random() < 0.3 ? null : value);

const records: Record<string, (at: number) => object> = {
  verdicts(at) {
    const record = variedRecord('inst_1', FIRST_AT_MS + at * 700, random, at);
    const bot = record.bot ? { ...record.bot, behaviours: at % 4 === 0 ? [] : record.bot.behaviours } : null;
    return { ...record, bot, request_id: at % 3 === 0 ? `request-${at}` : record.id };
  },
  captcha(at) {
    const { id, timestamp } = variedRecord('inst_1', FIRST_AT_MS + at * 900, random, at);
    return {
      v: 1,
      id,
      jti: `jti-${id}`,
      account_id: 'acct_1',
      site_key: 'site_1',
      timestamp,
      captcha_type: 'pow',
      ip: orNull(`192.0.2.${whole(9)}`),
      asn: orNull(64_496 + whole(9)),
      country: 'DE',
      ja4: null,
      user_agent: `Mozilla/5.0 (agent ${whole(4)})`,
      device_type: 'desktop',
      ip_category: whole(2) === 0 ? [] : ['tor', 'vpn'],
      host: 'shop.example',
      action: null,
      lane: null,
      user_account: orNull('person@shop.example'),
      session: null,
      web_view: orNull(whole(2) === 0),
      iframe: false,
      score: orNull(whole(100) / 100),
      threshold: 0.5,
      detectors: whole(2) === 0 ? [] : ['headless'],
      selection_reason: null,
      access_rule: null,
      policy_type: null,
      issued: true,
      status: 'approved',
      result_reason: null,
      submitted_at: orNull(timestamp + whole(9000)),
      submitted_correct: true,
      verified_at: orNull(timestamp + whole(90_000)),
      verified: true,
    };
  },
  telemetry(at) {
    const { id, timestamp } = variedRecord('inst_1', FIRST_AT_MS + at * 800, random, at);
    return {
      v: 1,
      id,
      timestamp,
      instance_id: 'inst_1',
      jti: `session-${whole(5)}`,
      report: {
        v: 1,
        elapsedMs: 900 + whole(90_000),
        visibleMs: 900 + whole(9000),
        firstInteractionMs: orNull(whole(2000)),
        pointerMoves: whole(300),
        presses: whole(9),
        touches: whole(9),
        leaps: whole(3),
        keys: whole(90),
        wheels: whole(9),
        scrolls: whole(9),
        untrusted: 0,
        keyGaps: whole(80),
        keyGapMeanMs: whole(200),
        keyGapDeviationMs: whole(50),
        traits: whole(2) === 0 ? [] : ['webdriver'],
      },
      edge: { isolate: 'isolate-1', seq: at },
    };
  },
};

for (const [stream, recordOf] of Object.entries(records)) {
  const writer = new SegmentWriter(schemaOf(stream));
  const lines = Array.from({ length: ROWS }, (_, at) => {
    const record = recordOf(at);
    // Half of a surrogate pair, which only the JSON beside the columns can hold.
    const body = JSON.stringify(at === 7 ? { ...record, user_agent: '\ud800' } : record);
    writer.add(JSON.parse(body) as object, body);
    if (writer.rows === GROUP_ROWS || at === ROWS - 1) writer.endRowGroup();
    return body;
  });
  const shard = `${stream}/${stream === 'captcha' ? 'acct_1' : 'inst_1'}:0:0`;
  const source = { stream, owner: 'owner-1', shard, no: 1, birth: 'birth-1' };
  writer.end(segmentMetadata(source, noExtras));
  writeFileSync(join(folder, `${stream}.parquet`), writer.take());
  writeFileSync(join(folder, `${stream}.ndjson`), `${lines.join('\n')}\n`);
}
