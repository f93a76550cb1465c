/** An object is near a bound. The alert ends when there is clearly room again. */
import type { InstanceView, Seen, StateSource } from './source.ts';

const BEGINS_AT_SHARE = 0.8;
const ENDS_BELOW_SHARE = 0.7;
const MEGABYTE = 1_000_000;
/** The platform's bound of one object. */
const OBJECT_MAX_MEGABYTES = 10_000;

export const storageFilling: StateSource = {
  kind: 'storage-filling',
  beginsAfterMs: 0,
  endsAfterMs: 0,
  see({ rules, rulesMax, rooms, isOn }) {
    const unsealed = rooms.toSorted((a, b) => b.unsealed / b.unsealedMax - a.unsealed / a.unsealedMax)[0];
    const megabytes = Math.round(Math.max(0, ...rooms.map(({ databaseBytes }) => databaseBytes)) / MEGABYTE);
    return [
      ...full('access-rules', rules, rulesMax, isOn),
      ...full('unsealed-verdicts', unsealed?.unsealed ?? 0, unsealed?.unsealedMax ?? 1, isOn),
      ...full('log-storage', megabytes, OBJECT_MAX_MEGABYTES, isOn),
    ];
  },
};

function full(what: string, used: number, limit: number, isOn: InstanceView['isOn']): Seen[] {
  const isFull = used / limit >= (isOn(what) ? ENDS_BELOW_SHARE : BEGINS_AT_SHARE);
  return isFull ? [{ subject: what, facts: { what, used, limit } }] : [];
}
