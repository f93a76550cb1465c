/** The fixed responses of the test secrets. Each has `test: true`. */
import type { SiteverifyResponse, VerifyReason } from '../../../contract/captcha/siteverify.ts';
import type { TestBehaviour } from '../../../contract/captcha/test-keys.ts';

/** Longer than the edge waits, shorter than most backends wait. */
const SLOW_MS = 3000;
const TEST_SCORE = 0.9;

export async function testSecretResponse(behaviour: TestBehaviour): Promise<SiteverifyResponse> {
  switch (behaviour) {
    case 'pass':
    case 'interactive':
      return verified();
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return verified();
    case 'score':
      return { ...verified(), score: TEST_SCORE };
    case 'fail':
      return notVerified('API.USER_NOT_VERIFIED');
    case 'expired':
      return notVerified('API.TIMESTAMP_TOO_OLD');
    case 'spent':
      return notVerified('API.USER_ALREADY_VERIFIED');
  }
}

function verified(): SiteverifyResponse {
  return { verified: true, level: 2, hostname: 'localhost', test: true };
}

function notVerified(reason: VerifyReason): SiteverifyResponse {
  return { verified: false, reason, test: true };
}
