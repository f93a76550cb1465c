/**
 * Channels of alerts in D1. Address and secrets are sealed: with the address of a Slack or Discord channel
 * anybody can write there, and with the secret of a webhook anybody can sign as this service.
 */
import { joined, sql, statement } from '../sql.ts';
import { newWebhookSecret } from '../../alerts/message.ts';
import {
  ALERT_CHANNELS_MAX,
  type AlertKind,
  type ChannelShape,
  type QuietHours,
} from '../../contract/management/alerts.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, randomToken, sealAtRest } from '../keys/master-key.ts';
import { rootKey } from '../keys/root-key.ts';
import { flag, fromJson, fromRow, plain, type Row } from './rows.ts';

/** As it is listed: without its address and its secrets. */
const alertChannel = fromRow({
  id: plain<string>(),
  name: plain<string>(),
  shape: plain<ChannelShape>(),
  host: plain<string>(),
  kinds: fromJson<AlertKind[]>(),
  quietHours: fromJson<QuietHours | null>(),
  enabled: flag(),
  createdAt: plain<number>(),
  updatedAt: plain<number>(),
  /** Until when webhooks are signed with the former secret too; `null`: they are not. */
  formerSecretUntil: plain<number | null>(),
});
type AlertChannel = ReturnType<typeof alertChannel>;
type ChannelSettings = Pick<AlertChannel, 'name' | 'kinds' | 'quietHours' | 'enabled'>;

/** What sending needs. */
export interface OpenChannel extends Pick<AlertChannel, 'id' | 'name' | 'shape' | 'quietHours'> {
  url: string;
  /** Valid ones, the newest first. Empty for Slack and Discord. */
  secrets: string[];
}

const ID_BYTES = 12;
/** Why nothing is sent to a channel whose row is damaged, or was sealed with another key. */
export const CHANNEL_UNREADABLE = 'The address or the secret of the channel cannot be decrypted';

const context = (column: string, id: string): string => `alert_channels.${column}:${id}`;
const hostOf = (url: string): string => new URL(url).host;

/** `null`: the account has as many as it may have. */
export async function createChannel(
  env: StoreEnv,
  accountId: string,
  { shape, webhookUrl, ...settings }: ChannelSettings & { shape: ChannelShape; webhookUrl: string },
  nowMs: number,
): Promise<{ channel: AlertChannel; secret: string | null } | null> {
  const id = `chan_${randomToken(ID_BYTES)}`;
  const root = await rootKey(env);
  const secret = shape === 'webhook' ? newWebhookSecret() : null;
  const urlSealed = await sealAtRest(root, context('url_sealed', id), webhookUrl);
  const secretSealed = secret && (await sealAtRest(root, context('secret_sealed', id), secret));
  const made = await statement(env)`
    INSERT INTO alert_channels
      (id, account_id, name, shape, url_sealed, host, secret_sealed, kinds, quiet_hours, enabled, created_at,
        updated_at)
    SELECT ${id}, ${accountId}, ${settings.name}, ${shape},
      ${urlSealed}, ${hostOf(webhookUrl)},
      ${secretSealed},
      ${JSON.stringify(settings.kinds)}, ${settings.quietHours && JSON.stringify(settings.quietHours)},
      ${settings.enabled}, ${nowMs}, ${nowMs}
    WHERE (SELECT COUNT(*) FROM alert_channels WHERE account_id = ${accountId}) < ${ALERT_CHANNELS_MAX}
    RETURNING *`.first<Row>();
  return made === null ? null : { channel: listed(made, nowMs), secret };
}

/** Of an account, oldest first. */
export async function channelsOf(env: StoreEnv, accountId: string, nowMs: number): Promise<AlertChannel[]> {
  const { results } = await statement(env)`
    SELECT * FROM alert_channels WHERE account_id = ${accountId} ORDER BY created_at, id`.all<Row>();
  return results.map((row) => listed(row, nowMs));
}

/** Changes what is given. `null`: the account has no such channel. */
export async function updateChannel(
  env: StoreEnv,
  accountId: string,
  id: string,
  change: { [Field in keyof ChannelSettings]?: ChannelSettings[Field] | undefined } & {
    webhookUrl?: string | undefined;
  },
  nowMs: number,
): Promise<AlertChannel | null> {
  const { name, webhookUrl, kinds, quietHours, enabled } = change;
  const set = [sql`updated_at = ${nowMs}`];
  if (name !== undefined) set.push(sql`name = ${name}`);
  if (kinds !== undefined) set.push(sql`kinds = ${JSON.stringify(kinds)}`);
  if (quietHours !== undefined) set.push(sql`quiet_hours = ${quietHours && JSON.stringify(quietHours)}`);
  if (enabled !== undefined) set.push(sql`enabled = ${enabled}`);
  if (webhookUrl !== undefined) {
    const urlSealed = await sealAtRest(await rootKey(env), context('url_sealed', id), webhookUrl);
    set.push(sql`url_sealed = ${urlSealed}, host = ${hostOf(webhookUrl)}`);
  }
  const row = await statement(env)`
    UPDATE alert_channels SET ${joined(set)} WHERE id = ${id} AND account_id = ${accountId} RETURNING *`.first<Row>();
  return row === null ? null : listed(row, nowMs);
}

/** What waits for the channel is dropped with it. What became of earlier deliveries stays. */
export async function deleteChannel(env: StoreEnv, accountId: string, id: string): Promise<boolean> {
  const [deleted] = await env.DB.batch([
    statement(env)`DELETE FROM alert_channels WHERE id = ${id} AND account_id = ${accountId}`,
    statement(env)`
      DELETE FROM alert_deliveries
      WHERE channel_id = ${id} AND state = 'waiting' AND NOT EXISTS (SELECT 1 FROM alert_channels WHERE id = ${id})`,
  ]);
  return deleted?.meta.changes === 1;
}

/** A new secret; the present one stays valid until `formerUntilMs`. `null`: the account has no such webhook. */
export async function rotateChannelSecret(
  env: StoreEnv,
  accountId: string,
  id: string,
  formerUntilMs: number,
  nowMs: number,
): Promise<string | null> {
  const root = await rootKey(env);
  const row = await statement(env)`
    SELECT secret_sealed AS sealed FROM alert_channels
    WHERE id = ${id} AND account_id = ${accountId} AND secret_sealed IS NOT NULL`.first<{ sealed: string }>();
  if (row === null) return null;
  const secret = newWebhookSecret();
  const former = await openAtRest(root, context('secret_sealed', id), row.sealed);
  const secretSealed = await sealAtRest(root, context('secret_sealed', id), secret);
  const formerSealed = await sealAtRest(root, context('former_secret_sealed', id), former);
  const { meta } = await statement(env)`
    UPDATE alert_channels SET secret_sealed = ${secretSealed},
      former_secret_sealed = ${formerSealed},
      former_secret_until = ${formerUntilMs}, updated_at = ${nowMs}
    WHERE id = ${id} AND secret_sealed = ${row.sealed}`.run();
  // Another call was faster. Its secret is the newest, and this one was shown to nobody.
  return meta.changes === 1 ? secret : rotateChannelSecret(env, accountId, id, formerUntilMs, nowMs);
}

/**
 * Channels by id that may be sent to: enabled ones of accounts that are not disabled. One whose address or secret cannot be
 * decrypted stops none of the others.
 */
export async function openChannels(
  env: StoreEnv,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, OpenChannel | 'unreadable'>> {
  const { results } = await statement(env)`
    SELECT channel.* FROM alert_channels AS channel JOIN accounts ON accounts.id = channel.account_id
    WHERE channel.id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND enabled = 1
      AND disabled = 0`.all<Row>();
  const root = await rootKey(env);
  const opened = results.map(
    async (row) => [row['id'] as string, await opening(row, root, nowMs).catch(unreadable)] as const,
  );
  return new Map(await Promise.all(opened));
}

function unreadable(): 'unreadable' {
  return 'unreadable';
}

const sealedChannel = fromRow({
  id: plain<string>(),
  urlSealed: plain<string>(),
  secretSealed: plain<string | null>(),
  formerSecretSealed: plain<string | null>(),
  formerSecretUntil: plain<number>(),
});

async function opening(row: Row, root: string, nowMs: number): Promise<OpenChannel> {
  const { id, urlSealed, secretSealed, formerSecretSealed, formerSecretUntil } = sealedChannel(row);
  const sealed: [string, string | null][] = [
    ['secret_sealed', secretSealed],
    ['former_secret_sealed', formerSecretUntil > nowMs ? formerSecretSealed : null],
  ];
  const secrets = sealed.map(async ([column, value]) =>
    value === null ? [] : [await openAtRest(root, context(column, id), value)],
  );
  const { name, shape, quietHours } = listed(row, nowMs);
  const url = await openAtRest(root, context('url_sealed', id), urlSealed);
  return { id, name, shape, quietHours, url, secrets: (await Promise.all(secrets)).flat() };
}

function listed(row: Row, nowMs: number): AlertChannel {
  const channel = alertChannel(row);
  const { formerSecretUntil } = channel;
  return { ...channel, formerSecretUntil: (formerSecretUntil ?? 0) > nowMs ? formerSecretUntil : null };
}
