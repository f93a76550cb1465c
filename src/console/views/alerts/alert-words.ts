/** Kinds of alerts and shapes of channels in words. A kind that the API gets is missed here by the compiler. */
import type { AlertKind, SentKind } from '../../../contract/management/alerts.ts';
import type { RequestOf, Schema } from '../../api/service-api.ts';

export type ListedAlert = Schema<'Alert'>;
export type ListedChannel = Schema<'AlertChannel'>;
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
export const alertKindWords: Readonly<Record<SentKind, string>> = { ...kinds, test: 'a test' };
export const offeredAlertKinds = Object.keys(kinds) as AlertKind[];
export const shownAlertKinds = Object.keys(alertKindWords) as SentKind[];

const shapeWords: Readonly<Record<ListedChannel['shape'], string>> = {
  webhook: 'webhook: signed JSON',
  slack: 'slack: an incoming webhook of Slack or Mattermost',
  discord: 'discord: a webhook of Discord',
};
export const shapes = Object.entries(shapeWords) as [ListedChannel['shape'], string][];
