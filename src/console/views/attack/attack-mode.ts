/** Attack mode in words, for the views that show it. */
import type { Schema } from '../../api/service-api.ts';

export type AttackMode = Schema<'AttackMode'>;
export type Trigger = AttackMode['trigger'];

export const triggers: readonly (readonly [Trigger, string])[] = [
  ['enforce', 'switch attack mode on, and send an alert'],
  ['alert', 'send an alert'],
  ['off', 'do nothing'],
];

/** Attack mode has an end, so a page that stays open asks again. */
export const ATTACK_EVERY_MS = 15_000;
