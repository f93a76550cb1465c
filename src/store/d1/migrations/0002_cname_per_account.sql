-- A cname is a label of the account's own instances. What an edge enforces depends on its client JWT, not on a name.
DROP INDEX protect_instances_cname;
CREATE UNIQUE INDEX protect_instances_cname ON protect_instances (account_id, cname) WHERE active = 1;
