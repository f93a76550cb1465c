/**
 * Says once when service and command line have different versions: an older command line does not know what a newer
 * service returns. Patch versions change nothing that a caller sees.
 */
interface Here {
  version: string;
  hasRepository: boolean;
}

const VERSION = /^(\d{1,6})\.(\d{1,6})\./;

export function versionWatch(
  { version: own, hasRepository }: Here,
  note: (line: string) => void,
): (service: string | null) => void {
  let isSaid = false;
  return (service) => {
    const difference = service === null ? 0 : compared(service, own);
    if (difference === 0 || isSaid) return;
    isSaid = true;
    const update = hasRepository
      ? 'Update this checkout.'
      : `Update it: npm install --global @gatehouse/cli@${service}`;
    note(
      difference > 0
        ? `The service has version ${service}, and this command the older ${own}. ${update}`
        : `The service has version ${service}, and this command the newer ${own}. What the service does not know yet is refused.`,
    );
  };
}

/** Above 0: `service` is newer. A text that is no version is like every other. */
function compared(service: string, own: string): number {
  const [there, here] = [VERSION.exec(service), VERSION.exec(own)];
  if (there === null || here === null || !/^[\w.+-]{1,40}$/.test(service)) return 0;
  return Number(there[1]) - Number(here[1]) || Number(there[2]) - Number(here[2]);
}
