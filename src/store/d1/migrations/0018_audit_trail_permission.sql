-- The audit trail has a permission of its own. Keys that read it by getApiKeys keep it.
UPDATE api_keys SET permissions = json_insert(permissions, '$.API[#]', 'getAuditTrail')
 WHERE EXISTS (SELECT 1 FROM json_each(permissions, '$.API') WHERE value = 'getApiKeys')
   AND NOT EXISTS (SELECT 1 FROM json_each(permissions, '$.API') WHERE value = 'getAuditTrail');
