/** A list as the API returns it: its settings, never its secret, and what became of its readings. */
import type { ListStatus } from '../../../../contract/management/lists.ts';
import { shownUrl } from '../../../http/shown-url.ts';
import type { StoredList } from '../../../../store/d1/rule-lists.ts';
import { OperationError } from '../../operation-error.ts';

export function listResponse(list: StoredList): ListStatus {
  const { name, settings, hasAuthorization, entries, failures, error, lastChange, report } = list;
  const { createdAt, triedAt, confirmedAt, changedAt, dueAt } = list;
  const times = { createdAt, triedAt, confirmedAt, changedAt, nextAt: dueAt };
  return {
    name,
    ...settings,
    url: settings.url === null ? null : shownUrl(settings.url),
    hasAuthorization,
    state: stateOf(list),
    entries,
    ...times,
    failures,
    error,
    lastChange,
    report,
  };
}

function stateOf({ isExpired, failures, confirmedAt }: StoredList): ListStatus['state'] {
  if (isExpired) return 'expired';
  if (failures > 0) return 'failing';
  return confirmedAt === null ? 'new' : 'good';
}

export function beingRead(): OperationError {
  return new OperationError('API.CONFLICT', 'The list is being read. Try again in a minute');
}

export function noSuchList(): OperationError {
  return new OperationError('API.NOT_FOUND', 'The instance has no list with this name');
}
