/** Kinds of alerts and shapes of channels in words. A kind that the API gets is missed here by the compiler. */
import type { RequestOf, Schema } from '../../api/service-api.ts';

export type Alert = Schema<'Alert'>;
export type AlertKind = Schema<'AlertKind'>;
export type Channel = Schema<'AlertChannel'>;
type SentKind = Alert['kind'];
export type AlertsBody = RequestOf<'/alerts/list'>;

const kinds: Readonly<Record<AlertKind, string>> = {
  attack: 'an attack',
  'origin-failing': 'the origin fails',
  'rules-stale': 'an edge has old rules',
  'list-stale': 'a list is out of date',
  'verdicts-lost': 'verdicts are lost',
  'storage-filling': 'storage fills',
  'client-jwt-expiring': 'a client JWT expires',
  'api-key-expiring': 'an API key expires',
};
export const kindWords: Readonly<Record<SentKind, string>> = { ...kinds, test: 'a test' };
export const alertKinds = Object.keys(kinds) as AlertKind[];
export const sentKinds = Object.keys(kindWords) as SentKind[];

const shapeWords: Readonly<Record<Channel['shape'], string>> = {
  webhook: 'webhook: signed JSON',
  slack: 'slack: an incoming webhook of Slack or Mattermost',
  discord: 'discord: a webhook of Discord',
};
export const shapes = Object.entries(shapeWords) as [Channel['shape'], string][];
