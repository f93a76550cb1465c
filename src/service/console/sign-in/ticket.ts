/**
 * A ticket carries a step of a sign-in to the next one: the challenge for a passkey, the state of an OpenID Connect
 * round, the choice of an account. It is sealed, so the browser can neither read nor make one, and beginning a sign-in
 * writes nothing: a flood of beginnings fills no table. A ticket counts once; `spendTicket` remembers it until it expires.
 */
import * as z from 'zod/mini';
import { failed, ok, type Result } from '../../../result.ts';
import type { StoreEnv } from '../../../store/binding.ts';
import { spendTicket } from '../../../store/d1/sign-in-links.ts';
import { openAtRest, sealAtRest } from '../../../store/keys/master-key.ts';
import { rootKey } from '../../../store/keys/root-key.ts';
import type { SignInError } from '../../http/service-error.ts';

type TicketPurpose = 'enrol' | 'passkey' | 'oidc' | 'proved' | 'choose';

/** A ticket that waits for a person with an authenticator in the other room. */
export const TICKET_VALID_MS = 5 * 60_000;

const envelope = z.object({ expiresAt: z.number(), data: z.unknown() });

export async function issueTicket(
  store: StoreEnv,
  purpose: TicketPurpose,
  data: object,
  nowMs: number,
): Promise<string> {
  // The nonce of the seal makes two tickets with one content differ.
  const content = JSON.stringify({ expiresAt: nowMs + TICKET_VALID_MS, data });
  return sealAtRest(await rootKey(store), context(purpose), content);
}

/** Reads a ticket without using it up. The expiry comes along, for `spendTicket`. */
export async function readTicket<Schema extends z.ZodMiniType>(
  store: StoreEnv,
  purpose: TicketPurpose,
  schema: Schema,
  ticket: string,
  nowMs: number,
): Promise<Result<{ data: z.infer<Schema>; expiresAt: number }, SignInError>> {
  const late = failed<SignInError>({ kind: 'sign-in-late' });
  let content: string;
  try {
    content = await openAtRest(await rootKey(store), context(purpose), ticket);
  } catch {
    return late;
  }
  const read = envelope.safeParse(JSON.parse(content));
  const data = schema.safeParse(read.data?.data);
  if (!read.success || !data.success || nowMs >= read.data.expiresAt) return late;
  return ok({ data: data.data, expiresAt: read.data.expiresAt });
}

/** Reads a ticket and uses it up. */
export async function takeTicket<Schema extends z.ZodMiniType>(
  store: StoreEnv,
  purpose: TicketPurpose,
  schema: Schema,
  ticket: string,
  nowMs: number,
): Promise<Result<z.infer<Schema>, SignInError>> {
  const read = await readTicket(store, purpose, schema, ticket, nowMs);
  if (!read.ok) return read;
  const first = await spendTicket(store, ticket, read.value.expiresAt);
  return first ? ok(read.value.data) : failed({ kind: 'sign-in-late' });
}

function context(purpose: TicketPurpose): string {
  return `console-ticket:${purpose}`;
}
