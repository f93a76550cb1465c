/** Shell lines of the installation with the account's own names, as in the operator's documentation. */
export interface EdgeFacts {
  /** Host name of the protected site. */
  cname: string;
  service: string;
  /** `null`: it was shown once and nobody can show it again. */
  clientJwt: string | null;
}

export function edgeConfiguration({ service }: EdgeFacts): string {
  return `# wrangler.toml
SERVICE_URL = "${service}"
ORIGIN_URL = "zone"   # the server that the zone's DNS record names, as without the gate`;
}

export function deployEdge({ cname, clientJwt }: EdgeFacts): string {
  return `export CLIENT_JWT=${clientJwt ?? '…   # the one of the step above'}
export OPS_TOKEN=$(openssl rand -hex 24)
echo "Keep this token for health checks: OPS_TOKEN=$OPS_TOKEN"
(umask 077; echo "CLIENT_JWT=$CLIENT_JWT" > .dev.vars; echo "OPS_TOKEN=$OPS_TOKEN" >> .dev.vars)
npx wrangler deploy --config wrangler.toml --route '${cname}/*' --secrets-file .dev.vars
rm .dev.vars`;
}

export function checkEdge({ cname }: EdgeFacts): string {
  return `curl -s https://${cname}/__protect/health -H "Authorization: Bearer $OPS_TOKEN"
curl -si https://${cname}/ | grep -i x-protect`;
}
