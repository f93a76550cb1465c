/**
 * The entry of the service Worker: HTTP, the verdict queue, the scheduled run, and the classes of its Durable Objects.
 */
import { serviceApp } from './app.ts';
import { captchaRoutes } from './captcha/captcha-routes.ts';
import { checkedEnvironment } from './environment.ts';
import { consoleRoutes } from './console/console-routes.ts';
import { docsRoutes } from './docs/docs-routes.ts';
import { edgeRoutes } from './edge-api/edge-routes.ts';
import { operations } from './operations/operation-table.ts';
import { consumeVerdicts } from './ingest/consume-verdicts.ts';
import { referenceRoutes } from './operations/reference/reference-routes.ts';
import { runScheduled } from './scheduled.ts';

export { AttackWatch } from '../store/attack-watch/object/attack-watch.ts';
export { LimitLedger } from '../store/limit-ledger/object/limit-ledger.ts';
export { RiskBook } from '../store/risk-book/object/risk-book.ts';
export { RuleBook } from '../store/rule-book/object/rule-book.ts';
export { SpendLedger } from '../store/spend-ledger/object/spend-ledger.ts';
export { VerdictShard } from '../store/event-log/shard/verdict-shard.ts';

const app = serviceApp({
  operations,
  edgeRoutes,
  captcha: captchaRoutes(),
  reference: referenceRoutes(),
  docs: docsRoutes(),
  console: consoleRoutes(),
});

export default {
  fetch: app.fetch,
  queue: (batch, env) => consumeVerdicts(batch, checkedEnvironment(env).store),
  scheduled: ({ scheduledTime }, env) => runScheduled(scheduledTime, checkedEnvironment(env)),
} satisfies ExportedHandler<ServiceEnv>;
