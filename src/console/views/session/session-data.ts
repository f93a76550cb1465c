/** What the API says about one session. */
import type { ResponseOf } from '../../api/service-api.ts';

export type RiskHistory = ResponseOf<'/protect/risk-history'>;
export type SessionTelemetry = ResponseOf<'/protect/session-telemetry'>;
