/** Which addresses the service calls, for the hints of forms. */
import { session } from '../api/session.ts';

export function addressRule(): string {
  const state = session.value;
  return state.kind === 'signed-in' && state.user.callsOwnMachine
    ? 'https with a public host name, or http on this machine'
    : 'https, with a public host name';
}
