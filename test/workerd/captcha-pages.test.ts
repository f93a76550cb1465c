/** Pages of unsealed captchas against a plain map of them. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { captchaId } from '../../src/store/event-log/captcha-record.ts';
import { CaptchaPages } from '../../src/store/event-log/shard/captcha-pages.ts';
import { runs } from '../support/properties.ts';
import { jtiOf } from '../support/captcha-course.ts';

const service = env as ServiceEnv;
const PAGE_MAX_CHARS = 400;
/** Two or three pages. */
const OPEN_MAX_BYTES = 1200;
const TIMES = 30;

const idAt = (number: number) => captchaId(jtiOf((number * 7) % 5), number % TIMES);
const bodyOf = (id: string, text: string) => JSON.stringify({ v: 1, id, text });
const change = fc.tuple(fc.nat(99), fc.option(fc.string({ maxLength: 150, unit: 'binary' })));
const changes = fc.array(change, { maxLength: 12 });

test('pages return what was put into them, in order and by id, also when they are opened anew', async () => {
  const stub = service.VERDICT_SHARD.getByName('captcha/captcha-pages:0:0');
  await runInDurableObject(stub, (_, { storage: { sql } }) => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 8 }), changes, fc.nat(TIMES), fc.nat(TIMES), (puts, fresh, a, b) => {
        sql.exec('DELETE FROM captcha_pages');
        const pages = new CaptchaPages(sql, PAGE_MAX_CHARS, OPEN_MAX_BYTES);
        const model = new Map<string, string>();
        const applied = (given: typeof fresh) => {
          const bodies = new Map(
            given.map(([number, text]) => {
              const id = idAt(number);
              return [id, text === null ? null : bodyOf(id, text)] as const;
            }),
          );
          for (const [id, body] of bodies) {
            if (body === null) model.delete(id);
            else model.set(id, body);
          }
          return bodies;
        };
        for (const put of puts) {
          pages.put(applied(put));
          expect(pages.rows).toBe(model.size);
          for (let number = 0; number < 100; number++) expect(pages.get(idAt(number))).toBe(model.get(idAt(number)));
          expect(pages.openBytes).toBeLessThanOrEqual(OPEN_MAX_BYTES);
        }
        const opened = new CaptchaPages(sql, PAGE_MAX_CHARS, OPEN_MAX_BYTES);
        expect([opened.rows, opened.bytes]).toEqual([pages.rows, pages.bytes]);
        const overlaid = applied(fresh);
        const expected = [...model]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([id, body]) => ({ id, body }));
        for (const [since, until] of [
          [0, TIMES],
          [Math.min(a, b), Math.max(a, b)],
        ] as const) {
          const within = expected.filter(({ id }) => {
            const timestamp = parseInt(id.slice(9, 13), 16);
            return timestamp >= since && timestamp < until;
          });
          const found = [...opened.between(since, until, overlaid, false)];
          expect(found.map(({ id, body }) => ({ id, body }))).toEqual(within);
          expect([...opened.between(since, until, overlaid, true)]).toEqual(found.toReversed());
        }
      }),
      { numRuns: runs(40) },
    );
  });
});
