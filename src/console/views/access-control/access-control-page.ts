/** A page of access control rules as the service lists it. */
import type { ResponseOf, Schema } from '../../api/service-api.ts';

export type AccessControlPage = ResponseOf<'/access-control/get'>;
export type AccessControlRule = Schema<'AccessControlRule'>;
