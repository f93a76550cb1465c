/** What the page without scripts says, in the languages most read; anybody else reads English. */

export interface WaitTexts {
  /** Heading and label of the frame's content. */
  title: string;
  /** Before the first press. */
  fillFirst: string;
  start: string;
  wait: string;
  next: string;
  /** Above the text to copy. */
  copy: string;
  valid: string;
  /** A task is asked for that needs scripts; too many visitors of this network; anything else. */
  needsScript: string;
  busy: string;
  unavailable: string;
}

/** In the order of `names`. */
const names = [
  'title',
  'fillFirst',
  'start',
  'wait',
  'next',
  'copy',
  'valid',
  'needsScript',
  'busy',
  'unavailable',
] as const satisfies readonly (keyof WaitTexts)[];

const texts: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Are you human?',
    'Your browser runs no scripts. Fill in the form first, then press the button.',
    'I am human',
    'Please wait. In eight seconds a button appears here.',
    'Continue',
    'Copy this text into the field of the form that asks for it, then send the form.',
    'Valid for a short time and for one submission.',
    'This form asks for a task that needs JavaScript.',
    'Too many visitors of your network came this way. Try again in ten minutes.',
    'Verification is not available here.',
  ],
  de: [
    'Sind Sie ein Mensch?',
    'Ihr Browser führt keine Skripte aus. Füllen Sie erst das Formular aus und drücken Sie dann den Knopf.',
    'Ich bin ein Mensch',
    'Bitte warten. In acht Sekunden erscheint hier ein Knopf.',
    'Weiter',
    'Kopieren Sie diesen Text in das Feld des Formulars, das danach fragt, und senden Sie es ab.',
    'Gilt kurze Zeit und für eine Absendung.',
    'Dieses Formular verlangt eine Aufgabe, die JavaScript braucht.',
    'Zu viele Besucher Ihres Netzes kamen auf diesem Weg. Versuchen Sie es in zehn Minuten wieder.',
    'Die Prüfung steht hier nicht zur Verfügung.',
  ],
  fr: [
    'Êtes-vous humain ?',
    'Votre navigateur n’exécute pas de scripts. Remplissez d’abord le formulaire, puis appuyez sur le bouton.',
    'Je suis humain',
    'Veuillez patienter. Un bouton apparaîtra ici dans huit secondes.',
    'Continuer',
    'Copiez ce texte dans le champ du formulaire qui le demande, puis envoyez le formulaire.',
    'Valable peu de temps et pour un seul envoi.',
    'Ce formulaire demande une tâche qui nécessite JavaScript.',
    'Trop de visiteurs de votre réseau sont passés par ici. Réessayez dans dix minutes.',
    'La vérification n’est pas disponible ici.',
  ],
  es: [
    '¿Es usted humano?',
    'Su navegador no ejecuta scripts. Rellene primero el formulario y pulse después el botón.',
    'Soy humano',
    'Espere, por favor. En ocho segundos aparecerá aquí un botón.',
    'Continuar',
    'Copie este texto en el campo del formulario que lo pide y envíe el formulario.',
    'Válido por poco tiempo y para un solo envío.',
    'Este formulario pide una tarea que necesita JavaScript.',
    'Demasiados visitantes de su red han llegado por aquí. Inténtelo de nuevo en diez minutos.',
    'La verificación no está disponible aquí.',
  ],
  pt: [
    'Você é humano?',
    'O seu navegador não executa scripts. Preencha primeiro o formulário e depois prima o botão.',
    'Sou humano',
    'Aguarde, por favor. Dentro de oito segundos aparece aqui um botão.',
    'Continuar',
    'Copie este texto para o campo do formulário que o pede e envie o formulário.',
    'Válido por pouco tempo e para um só envio.',
    'Este formulário pede uma tarefa que precisa de JavaScript.',
    'Demasiados visitantes da sua rede vieram por aqui. Tente de novo dentro de dez minutos.',
    'A verificação não está disponível aqui.',
  ],
  it: [
    'Sei una persona?',
    'Il tuo browser non esegue script. Compila prima il modulo, poi premi il pulsante.',
    'Sono una persona',
    'Attendi. Fra otto secondi qui comparirà un pulsante.',
    'Continua',
    'Copia questo testo nel campo del modulo che lo chiede, poi invia il modulo.',
    'Valido per poco tempo e per un solo invio.',
    'Questo modulo chiede un compito che richiede JavaScript.',
    'Troppi visitatori della tua rete sono passati di qui. Riprova fra dieci minuti.',
    'La verifica non è disponibile qui.',
  ],
  nl: [
    'Bent u een mens?',
    'Uw browser voert geen scripts uit. Vul eerst het formulier in en druk dan op de knop.',
    'Ik ben een mens',
    'Even geduld. Over acht seconden verschijnt hier een knop.',
    'Verder',
    'Kopieer deze tekst naar het veld van het formulier dat erom vraagt en verstuur het formulier.',
    'Kort geldig en voor één verzending.',
    'Dit formulier vraagt een taak waarvoor JavaScript nodig is.',
    'Te veel bezoekers van uw netwerk kwamen langs deze weg. Probeer het over tien minuten opnieuw.',
    'De controle is hier niet beschikbaar.',
  ],
  pl: [
    'Czy jesteś człowiekiem?',
    'Twoja przeglądarka nie uruchamia skryptów. Najpierw wypełnij formularz, potem naciśnij przycisk.',
    'Jestem człowiekiem',
    'Proszę czekać. Za osiem sekund pojawi się tu przycisk.',
    'Dalej',
    'Skopiuj ten tekst do pola formularza, które o niego prosi, i wyślij formularz.',
    'Ważny przez krótki czas i na jedno wysłanie.',
    'Ten formularz wymaga zadania, które potrzebuje JavaScriptu.',
    'Zbyt wielu użytkowników twojej sieci skorzystało z tej drogi. Spróbuj ponownie za dziesięć minut.',
    'Weryfikacja nie jest tu dostępna.',
  ],
};

/** The first language of the browser's list that there is; its order is good enough, its weights are not read. */
export function waitTexts(acceptLanguage: string | null): { language: string; texts: WaitTexts } {
  const wanted = (acceptLanguage ?? '').slice(0, 512).toLowerCase().split(',');
  const language =
    wanted.map((entry) => entry.trim().split(/[-;]/, 1)[0] ?? '').find((tag) => Object.hasOwn(texts, tag)) ?? 'en';
  const lines = texts[language]!;
  const named = Object.fromEntries(names.map((name, index) => [name, lines[index]!])) as Record<
    keyof WaitTexts,
    string
  >;
  return { language, texts: named };
}
