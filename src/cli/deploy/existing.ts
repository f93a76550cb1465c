/** A deployment that is there, for the commands that need no site: its account, storage, records and key. */
import type { D1Database } from '@cloudflare/workers-types';
import { OperatorError } from '../operator-error.ts';
import { type CloudflareApi, cloudflareApi } from './cloudflare-api.ts';
import { loginToken, onlyAccount } from './login.ts';
import { defaultKeyFile, masterKeyOf } from './master-key-file.ts';
import { remembered } from './memory.ts';
import { type Names, namesOf } from './names.ts';
import { type Recorded, recorded } from './record.ts';
import { restDatabase } from './rest-database.ts';
import { type Resources, resourcesOf } from './storage.ts';
import { foundIds } from './survey.ts';

export interface Existing {
  api: CloudflareApi;
  names: Names;
  accountId: string;
  resources: Resources;
  ids: Readonly<Record<keyof Resources, string | null>>;
  /** `null`: the database is gone, for example after a destruction that was interrupted. */
  database: D1Database | null;
  recorded: Recorded | null;
}

export async function existing(name: string, folder: string): Promise<Existing> {
  const names = namesOf(name, folder);
  const api = cloudflareApi(await loginToken());
  const accountId = process.env['CLOUDFLARE_ACCOUNT_ID'] || (remembered(names)?.accountId ?? (await onlyAccount(api)));
  const resources = resourcesOf(api, accountId, names);
  const ids = await foundIds(resources);
  const database = ids.database === null ? null : restDatabase(api, accountId, ids.database);
  return {
    api,
    names,
    accountId,
    resources,
    ids,
    database,
    recorded: database === null ? null : await recorded(database),
  };
}

/** @throws OperatorError where nothing was deployed under this name. */
export function deployed(there: Existing): { database: D1Database; recorded: Recorded; serviceUrl: string } {
  const { database, recorded: known, names, accountId } = there;
  const serviceUrl = known?.deployment?.service_url;
  if (database === null || known === null || serviceUrl == null)
    throw new OperatorError(
      `The account ${accountId} has no complete deployment ${names.deployment}. Deploy it with "npm run deploy -- --site HOST", or choose another one with --name.`,
    );
  return { database, recorded: known, serviceUrl };
}

/** @throws OperatorError where the key is missing or another one. */
export async function keyOfExisting(there: Existing, file: string | undefined): Promise<string> {
  const path =
    file ?? remembered(there.names)?.masterKeyFile ?? defaultKeyFile(there.names.deployment, there.accountId);
  const found = await masterKeyOf(path, there.recorded?.rootKeySealed ?? null, false);
  if (found === null)
    throw new OperatorError(`There is no master key in ${path}. Name its file with --master-key-file.`);
  return found.key;
}
