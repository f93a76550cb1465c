/**
 * `--remote`: the deployed database, over the platform's API and with wrangler's login. It is found by its name, so that
 * no file has its id. GATEHOUSE_DEPLOYMENT names a deployment with another name than `gatehouse`. What `npm run deploy` remembers spares the operator the variable MASTER_KEY.
 */
import type { CommandResult } from './command-line.ts';
import { runCommand } from './database/commands.ts';
import { ApiError, cloudflareApi, restDatabase } from './deploy/cloudflare-api.ts';
import { readKey, remembered } from './deploy/memory.ts';
import { DEFAULT_NAME, DEPLOY_FOLDER, commandOf, namesOf } from './deploy/names.ts';
import { resourcesOf } from './deploy/storage.ts';
import { loginToken, onlyAccount } from './deploy/wrangler.ts';
import { OperatorError } from './failure.ts';
import { SERVICE_CONFIG } from './service-worker.ts';
import { readWranglerFile } from './worker-config.ts';

const LOG_IN =
  'You are not logged in to Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN to a token that may edit D1.';

export async function runRemote(args: readonly string[]): Promise<CommandResult> {
  const names = namesOf(process.env['GATEHOUSE_DEPLOYMENT'] || DEFAULT_NAME, DEPLOY_FOLDER);
  const known = remembered(names);
  const masterKey = process.env['MASTER_KEY'] || (known?.masterKeyFile ? readKey(known.masterKeyFile) : null);
  if (!masterKey) throw new OperatorError('MASTER_KEY is not set. Set it to the secret of the deployed service.');
  const previous = process.env['MASTER_KEY_PREVIOUS'];
  const api = cloudflareApi(await loginToken());
  try {
    const accountId = process.env['CLOUDFLARE_ACCOUNT_ID'] || (known?.accountId ?? (await onlyAccount(api)));
    const databaseId = await resourcesOf(api, accountId, names).database.find();
    if (databaseId === null)
      throw new OperatorError(
        `The account ${accountId} has no D1 database ${names.database}. Deploy with "${commandOf('--site HOST', names)}", or set CLOUDFLARE_ACCOUNT_ID to the account that has it. For a deployment with another name, set GATEHOUSE_DEPLOYMENT to it.`,
      );
    return await runCommand(args, {
      DB: restDatabase(api, accountId, databaseId),
      MASTER_KEY: masterKey,
      serviceUrl: known?.serviceUrl ?? readWranglerFile(SERVICE_CONFIG).vars?.['SERVICE_URL'] ?? '',
      ...(previous === undefined ? {} : { MASTER_KEY_PREVIOUS: previous }),
    });
  } catch (error) {
    if (error instanceof ApiError && error.isForbidden) throw new OperatorError(LOG_IN);
    throw error;
  }
}
