/**
 * Mail services that hand out addresses for minutes and say so on their own pages. Short on purpose:
 * names that change weekly belong in a site's own `customRegexBlocklist`.
 */
export const throwawayDomains: ReadonlySet<string> = new Set(
  (
    '10minutemail.com 10minutemail.net 20minutemail.com 33mail.com anonbox.net burnermail.io byom.de ' +
    'discard.email discardmail.com dispostable.com emailondeck.com fakeinbox.com fakemail.net getairmail.com ' +
    'getnada.com guerrillamail.biz guerrillamail.com guerrillamail.de guerrillamail.net guerrillamail.org ' +
    'harakirimail.com inboxkitten.com mail-temp.com mailcatch.com maildrop.cc mailinator.com mailinator.net ' +
    'mailnesia.com mailsac.com mintemail.com moakt.com mohmal.com mytemp.email nada.email sharklasers.com ' +
    'spam4.me spamgourmet.com temp-mail.io temp-mail.org tempail.com tempinbox.com tempmail.dev tempmail.net ' +
    'tempmailo.com tempr.email throwawaymail.com trash-mail.com trashmail.com trashmail.de wegwerfmail.de ' +
    'wegwerfemail.de yopmail.com yopmail.fr yopmail.net'
  ).split(' '),
);
