/** `POST /api-keys/get`: every key of the account with its token, including expired ones. */
import * as z from 'zod/mini';
import { apiKeysOfAccount } from '../../../store/d1/api-keys.ts';
import { operation } from '../define-operation.ts';
import { apiKey, apiKeyResponse } from './api-key-response.ts';
import { rootKey } from '../../../store/keys/root-key.ts';

export const getApiKeys = operation({
  name: 'get-api-keys',
  method: 'POST',
  path: '/api-keys/get',
  feature: 'API',
  permission: 'getApiKeys',
  access: 'read',
  summary: 'List API keys',
  body: z.strictObject({}),
  response: z.array(apiKey),
  async handler({ store, account }) {
    const records = await apiKeysOfAccount(store, account.id);
    const root = await rootKey(store);
    return Promise.all(records.map((record) => apiKeyResponse(root, record)));
  },
});
