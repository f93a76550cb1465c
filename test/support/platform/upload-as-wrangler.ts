/**
 * Makes the calls that `wrangler deploy` makes, without bundling: a hundred deployments would take minutes of bundling.
 * `whole-way.test.ts` deploys with wrangler itself to the same stand-in.
 */
import { readFileSync } from 'node:fs';
import type { Upload } from '../../../src/cli/deploy/wrangler.ts';
import { OperatorError } from '../../../src/cli/failure.ts';
import { TOKEN, type Platform } from './platform.ts';

interface Config {
  name: string;
  routes: { pattern: string; custom_domain?: boolean; zone_id: string }[];
  vars: Record<string, string>;
  d1_databases?: { binding: string; database_id: string }[];
  kv_namespaces?: { binding: string; id: string }[];
  r2_buckets?: { binding: string; bucket_name: string }[];
  services?: { binding: string; service: string }[];
  queues: {
    producers?: { binding: string; queue: string }[];
    consumers?: { queue: string; dead_letter_queue?: string }[];
  };
  triggers: { crons: string[] };
  secrets: { required: string[] };
}

export function uploadAsWrangler(platform: Platform): (upload: Upload) => Promise<void> {
  return async ({ worker, accountId, secrets }) => {
    const config = JSON.parse(readFileSync(worker.path, 'utf8')) as Config;
    const call = async (method: string, path: string, body: object): Promise<void> => {
      const isForm = body instanceof FormData;
      const response = await fetch(`${platform.url}/accounts/${accountId}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
        body: isForm ? body : JSON.stringify(body),
      }).catch((error: unknown) => {
        throw failure(String(error));
      });
      if (!response.ok) throw failure(await response.text());
    };
    const script = `/workers/scripts/${config.name}`;
    const had = platform.account.scripts.get(config.name);
    const missing = config.secrets.required.filter((name) => !(name in secrets) && !had?.secrets.has(name));
    if (missing.length > 0) throw failure(`the secret ${missing.join()} is missing`);
    await call('PUT', script, formOf(config, secrets));
    await call('POST', `${script}/subdomain`, { enabled: false });
    for (const { queue } of config.queues.consumers ?? []) {
      const found = platform.account.queues.find((one) => one.queue_name === queue)!;
      const consumer = found.consumers.find((one) => one.script === config.name);
      const place = `/queues/${found.queue_id}/consumers`;
      const body = { type: 'worker', script_name: config.name, settings: {} };
      await (consumer === undefined
        ? call('POST', place, body)
        : call('PUT', `${place}/${consumer.consumer_id}`, body));
    }
    const domains = config.routes.filter((route) => route.custom_domain);
    const routes = config.routes.filter((route) => !route.custom_domain);
    if (routes.length > 0) await call('PUT', `${script}/routes`, routes);
    if (domains.length > 0) {
      const origins = domains.map(({ pattern, zone_id: zoneId }) => ({ hostname: pattern, zone_id: zoneId }));
      await call('PUT', `${script}/domains/records`, { origins });
    }
    await call(
      'PUT',
      `${script}/schedules`,
      config.triggers.crons.map((cron) => ({ cron })),
    );
  };
}

/** As `uploadWithWrangler` reports a failure. */
const failure = (text: string): OperatorError =>
  new OperatorError(`wrangler could not deploy: ${text} Correct that and run the command again.`);

function formOf(config: Config, secrets: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  const bindings = [
    ...Object.entries(config.vars).map(([name, text]) => ({ type: 'plain_text', name, text })),
    ...Object.entries(secrets).map(([name, text]) => ({ type: 'secret_text', name, text })),
    ...(config.d1_databases ?? []).map(({ binding, database_id: id }) => ({ type: 'd1', name: binding, id })),
    ...(config.kv_namespaces ?? []).map(({ binding, id }) => ({
      type: 'kv_namespace',
      name: binding,
      namespace_id: id,
    })),
    ...(config.r2_buckets ?? []).map((one) => ({ type: 'r2_bucket', name: one.binding, bucket_name: one.bucket_name })),
    ...(config.services ?? []).map(({ binding, service }) => ({ type: 'service', name: binding, service })),
    ...(config.queues.producers ?? []).map(({ binding, queue }) => ({
      type: 'queue',
      name: binding,
      queue_name: queue,
    })),
  ];
  form.set('metadata', JSON.stringify({ main_module: 'index.js', bindings, keep_bindings: ['plain_text'] }));
  form.set('index.js', new Blob(['export default {};']), 'index.js');
  return form;
}
