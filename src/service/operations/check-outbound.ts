/** What operations say of an address that the service would not call. */
import { isLoopback } from '../../contract/management/outbound-address.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { OperationError } from './operation-error.ts';

/** @throws OperationError 400 for a server of the same machine, except on the local stack. */
export function checkOutbound(url: string, path: string, { allowsLoopback }: OutboundSettings): void {
  if (allowsLoopback || !isLoopback(new URL(url))) return;
  const message = 'must be an https address with a public host name';
  throw new OperationError('API.INVALID_BODY', 'The service calls no server of its own machine', [{ path, message }]);
}
