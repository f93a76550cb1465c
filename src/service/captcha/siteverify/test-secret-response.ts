/** The fixed answers of the test secrets (design 5), each marked as one. */
import type { SiteverifyAnswer, VerifyReason } from '../../../contract/captcha/siteverify.ts';
import type { TestBehaviour } from '../../../contract/captcha/test-keys.ts';

/** Longer than the edge waits, shorter than most backends do. */
const SLOW_MS = 3000;
const TEST_SCORE = 0.9;

export async function testAnswer(behaviour: TestBehaviour): Promise<SiteverifyAnswer> {
  switch (behaviour) {
    case 'pass':
    case 'interactive':
      return passed();
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return passed();
    case 'score':
      return { ...passed(), score: TEST_SCORE };
    case 'fail':
      return failed('API.USER_NOT_VERIFIED');
    case 'expired':
      return failed('API.TIMESTAMP_TOO_OLD');
    case 'spent':
      return failed('API.USER_ALREADY_VERIFIED');
  }
}

function passed(): SiteverifyAnswer {
  return { verified: true, level: 2, hostname: 'localhost', test: true };
}

function failed(reason: VerifyReason): SiteverifyAnswer {
  return { verified: false, reason, test: true };
}
