/** One JSON line per verdict on the console: for `wrangler tail`, Logpush, or local use. */
import type { VerdictSink } from '../sink.ts';

export const consoleSink: VerdictSink = {
  name: 'console',
  async send(batch) {
    for (const record of batch.records) console.log(JSON.stringify(record));
  },
};
