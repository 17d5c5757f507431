#include "knowledge/directive.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum {
    WORDS_LEAST = 2,          /* in a text that is a part of its sentence */
    NONE = LEARNED_KIND_COUNT /* the kind of a row that makes a sentence no directive */
};

/* The first row that fits a sentence decides. A pattern is matched against the sentence's words
 * from the first one on: without case and accents, parted at apostrophes and hyphens, and without
 * courtesies around them. Its elements:
 *
 *     word     that word          a|b    one of them        $class  one of a class
 *     ?a|b     one of them, or nothing
 *     *        one word or more   ~      any number of words
 *     :        a colon            .      the end
 *     @        nothing, but "from now on" was said
 *     <        the text that is kept begins here; without it the whole sentence is kept
 */
struct pattern {
    int kind; /* of enum learned_kind, or NONE */
    const char *pattern;
};

/* Words before or behind a directive that are no part of it. */
struct courtesy {
    const char *words;
    bool lasting; /* "from now on" */
    bool asks;    /* a wish follows, though a question mark ends it */
};

#define FACT LEARNED_FACT
#define RULE LEARNED_RULE
#define LANGUAGE LEARNED_LANGUAGE
#define STYLE LEARNED_STYLE
#define TONE LEARNED_TONE
#define FORMAT LEARNED_FORMAT
#define EMOJI LEARNED_EMOJI

/* clang-format off */

/* --- words of a kind -------------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
} classes[] = {
    {"language",
     "english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|czech|turkish|"
     "swedish|danish|norwegian|finnish|greek|hungarian|romanian|japanese|chinese|mandarin|korean|"
     "arabic|hebrew|hindi|latin|esperanto|"
     "englisch|deutsch|franzosisch|spanisch|italienisch|portugiesisch|niederlandisch|polnisch|"
     "russisch|ukrainisch|tschechisch|turkisch|schwedisch|danisch|norwegisch|finnisch|griechisch|"
     "ungarisch|rumanisch|japanisch|chinesisch|koreanisch|arabisch|hebraisch|latein|"
     "ingles|aleman|frances|espanol|castellano|italiano|portugues|neerlandes|polaco|ruso|ucraniano|"
     "checo|turco|sueco|danes|noruego|griego|hungaro|rumano|japones|chino|coreano|arabe|catalan|"
     "anglais|allemand|francais|espagnol|italien|portugais|neerlandais|polonais|russe|ukrainien|"
     "tcheque|turc|suedois|danois|norvegien|finnois|grec|hongrois|roumain|japonais|chinois|coreen"},
    {"emoji", "emoji|emojis|emoticon|emoticons|smiley|smileys|smilies|emoticonos|emoticones|emoticone|"
              "caritas"},

    {"answers", "answers|replies|responses|explanations|messages"},
    {"style", "concise|brief|succinct|terse|short|shorter|briefer|detailed|thorough|verbose|precise|"
              "direct|compact|minimal|exhaustive"},
    {"tone", "formal|informal|casual|friendly|polite|professional|serious|neutral|warm|relaxed|"
             "encouraging|honest|blunt|playful|humorous|matter"},
    {"form", "markdown|bullets|tables|headings|lists|prose"},
    {"part", "function|file|class|method|line|loop|paragraph|section|chapter|test|script|branch|list|"
             "table|snippet"},
    {"project", "project|repo|repository|codebase|workspace|code"},
    {"do", "use|run|write|keep|put|call|name|prefer|avoid|follow|stick|make|add|build|test|check|"
           "commit|format|indent|wrap|document|install|start|import|return|create|place|store|ask|"
           "show|leave|treat|assume|target|include|declare|prefix|push|edit|touch|modify|delete|"
           "change|mock|log|catch|throw|rename|remove|sort|quote|sign|squash|rebase|merge|explain|"
           "give|cite|mention"},

    {"stil", "knapp|kurz|kurzer|knapper|pragnant|ausfuhrlich|ausfuhrlicher|detailliert|detaillierter|"
             "prazise|praziser|konkret|konkreter|direkt|bundig|grundlich"},
    {"stile", "kurze|kurzere|knappe|knappere|ausfuhrliche|ausfuhrlichere|detaillierte|prazise|"
              "grundliche"},
    {"ton", "formlich|formell|formal|informell|locker|lockerer|freundlich|freundlicher|hoflich|"
            "hoflicher|sachlich|sachlicher|professionell|ernst|humorvoll|witzig|ehrlich|neutral"},
    {"tonen", "hoflichen|lockeren|formellen|formlichen|sachlichen|freundlichen|professionellen|"
              "neutralen|ernsten"},
    {"formen", "markdown|aufzahlungen|stichpunkte|stichpunkten|aufzahlungspunkte|aufzahlungspunkten|"
               "tabellen|listen|klartext|fliesstext|uberschriften"},
    {"antworte", "antworte|antwort|antworten|schreib|schreibe|schreiben"},
    {"teil", "funktion|datei|klasse|methode|zeile|schleife|absatz|abschnitt|kapitel|test|skript|zweig|"
             "liste|tabelle"},
    {"projekt", "projekt|repo|repository|codebasis|codebase|code"},
    {"tu", "verwende|nutze|benutze|benutz|nimm|schreib|schreibe|halte|halt|fuhre|fuhr|lege|leg|setze|"
           "setz|formatiere|committe|teste|bevorzuge|vermeide|folge|installiere|starte|baue|prufe|"
           "nenne|benenne|dokumentiere|rucke|importiere|lass|achte|erklare"},
    {"tun", "verwenden|benutzen|nutzen|schreiben|ausfuhren|nehmen|setzen|committen|testen|prufen|"
            "halten|folgen|dokumentieren|formatieren"},

    {"responde", "responde|responda|respondeme|contesta|contesteme|contestame|conteste|escribe|"
                 "escribeme|escriba"},
    {"breve", "breve|conciso|concisa|concreto|concreta|directo|directa|detallado|detallada|claro|"
              "clara|preciso|precisa|escueto|escueta|sucinto|sucinta|exhaustivo|exhaustiva"},
    {"breves", "breves|cortas|concisas|detalladas|claras|directas|precisas|escuetas"},
    {"tono", "formal|informal|amable|cordial|profesional|serio|seria|educado|educada|cercano|cercana|"
             "amigable|neutral|honesto|honesta|sincero|sincera|divertido|divertida"},
    {"formas", "markdown|vinetas|tablas|listas|encabezados"},
    {"parte", "funcion|archivo|fichero|clase|metodo|linea|bucle|parrafo|seccion|capitulo|prueba|"
              "script|rama|lista|tabla"},
    {"proyecto", "proyecto|repo|repositorio|codigo"},
    {"haz", "usa|utiliza|emplea|escribe|pon|sigue|ejecuta|manten|evita|prefiere|haz|anade|nombra|"
            "documenta|prueba|instala|comprueba|respeta|aplica|llama|guarda|explica"},
    {"hagas", "uses|utilices|escribas|pongas|hagas|ejecutes|toques|modifiques|edites|borres|anadas|"
              "subas|cambies|instales"},

    {"reponds", "reponds|repondez|ecris|ecrivez"},
    {"bref", "bref|breve|concis|concise|precis|precise|detaille|detaillee|direct|directe|succinct|"
             "succincte|clair|claire|court|courte|synthetique|exhaustif|exhaustive"},
    {"courtes", "breves|courtes|concises|detaillees|precises|claires|directes|succinctes"},
    {"tons", "formel|formelle|informel|informelle|decontracte|decontractee|amical|amicale|poli|polie|"
             "professionnel|professionnelle|serieux|serieuse|neutre|chaleureux|chaleureuse|honnete|"
             "cordial|cordiale|franc|franche|drole"},
    {"formes", "markdown|puces|listes|liste|tableaux|titres"},
    {"partie", "fonction|fichier|classe|methode|ligne|boucle|paragraphe|section|chapitre|test|script|"
               "branche|liste|tableau"},
    {"projet", "projet|depot|repo|code"},
    {"fais", "utilise|utilisez|ecris|ecrivez|mets|mettez|garde|gardez|suis|suivez|lance|lancez|"
             "execute|executez|prefere|preferez|evite|evitez|nomme|nommez|documente|ajoute|ajoutez|"
             "place|teste|testez|verifie|verifiez|respecte|respectez|emploie|applique|appelle|fais|"
             "indente|modifie|touche|supprime|explique|oublie"},
    {"faire", "utiliser|ecrire|mettre|lancer|verifier|tester|garder|suivre|modifier|toucher|commiter|"
              "documenter|executer|ajouter|supprimer"},
};

/* --- courtesies ------------------------------------------------------------------------------- */

static const struct courtesy before_it[] = {
    {"please|pls|ok|okay|hey|hi|hello|also|and|so|but|now|btw|oh|thanks", false, false},
    {"by the way", false, false},
    {"from now|here on", true, false},
    {"going forward", true, false},
    {"in future", true, false},
    {"in the future", true, false},
    {"henceforth", true, false},
    {"can|could|would|will you", false, true},
    {"bitte|und|ausserdem|ubrigens|danke|also", false, false},
    {"ab jetzt|sofort", true, false},
    {"von jetzt|nun an", true, false},
    {"in zukunft", true, false},
    {"kunftig|zukunftig", true, false},
    {"kannst|konntest|wurdest du", false, true},
    {"por favor", false, false},
    {"ademas|y|oye|gracias", false, false},
    {"a partir de ahora", true, false},
    {"de ahora en adelante", true, false},
    {"en adelante", true, false},
    {"en el futuro", true, false},
    {"puedes|podrias|puede|podria", false, true},
    {"s il te|vous plait", false, false},
    {"merci de", false, false},
    {"stp|svp|et|aussi|merci", false, false},
    {"veuillez", false, false},
    {"a partir de maintenant", true, false},
    {"desormais|dorenavant", true, false},
    {"a l avenir", true, false},
    {"peux|pourrais tu", false, true},
    {"pouvez|pourriez vous", false, true},
    {NULL, false, false},
};

static const struct courtesy behind_it[] = {
    {"please|pls|thanks|ok|okay", false, false},
    {"thank you", false, false},
    {"from now|here on", true, false},
    {"going forward", true, false},
    {"in future", true, false},
    {"in the future", true, false},
    {"bitte|danke", false, false},
    {"ab jetzt|sofort", true, false},
    {"in zukunft", true, false},
    {"von jetzt|nun an", true, false},
    {"por favor", false, false},
    {"gracias", false, false},
    {"a partir de ahora", true, false},
    {"de ahora en adelante", true, false},
    {"s il te|vous plait", false, false},
    {"stp|svp|merci", false, false},
    {"a partir de maintenant", true, false},
    {"desormais|dorenavant", true, false},
    {"a l avenir", true, false},
    {NULL, false, false},
};

/* --- English ---------------------------------------------------------------------------------- */

static const struct pattern english[] = {
    {NONE, "remember that time|day|night|one|guy|movie|game|joke|trip|moment|bug|episode|song|meeting"},
    {NONE, "note that|this down ."},
    {NONE, "never run|come into|across"},
    {NONE, "use it|this|that|these|those|them instead|rather"},
    {NONE, "use the first|second|third|last|other|former|latter|old|new ?one|version instead|rather"},
    {NONE, "~ this time ."},
    {NONE, "~ just this|for once ."},
    {NONE, "~ for|in this|the|that ?next|last answer|reply|response|message|question|one|$part ."},
    {NONE, "~ for now ."},
    {NONE, "~ or does|do|is|will|should|not ~ ."},

    {FACT, "remember that < *"},
    {FACT, "remember : < *"},
    {FACT, "remember < i|we|my|our *"},
    {FACT, "keep in mind that < *"},
    {FACT, "keep in mind : < *"},
    {FACT, "keep|bear in mind < i|we|my|our *"},
    {FACT, "bear in mind that < *"},
    {FACT, "note that < *"},
    {FACT, "take note that|: < *"},
    {FACT, "don t forget that < *"},
    {FACT, "dont forget that < *"},
    {FACT, "do not forget that < *"},
    {FACT, "never forget that < *"},
    {FACT, "important : < *"},
    {FACT, "fyi ?: < *"},
    {FACT, "for your information ?: < *"},
    {FACT, "for the record ?: < *"},
    {FACT, "for future reference ?: < *"},

    {LANGUAGE, "?always|only reply|respond|answer|speak|talk|communicate ?to ?me ?only|always "
               "in $language ?only|always ."},
    {LANGUAGE, "?always write to me ?only|always in $language ."},
    {LANGUAGE, "?always use $language for|in ?all ?your|my|the $answers ."},
    {LANGUAGE, "?all your $answers should|must ?always be in $language ."},
    {LANGUAGE, "i prefer|want ?your|my $answers in $language ."},
    {LANGUAGE, "i want you to ?always reply|answer|respond|speak in $language ."},
    {LANGUAGE, "i d|would like|prefer you to ?always reply|answer|respond|speak in $language ."},
    {LANGUAGE, "@ ?always|only ?in $language ?only ."},
    {LANGUAGE, "@ let s|us speak|talk|write|continue ?in $language ."},

    {STYLE, "?always be ?more|very|always ?as $style ?and ?$style|$tone ?as ?possible ."},
    {STYLE, "?always be ?more|very $style in ?all your $answers ."},
    {STYLE, "always keep it ?very $style ?and ?$style ."},
    {STYLE, "@ keep it ?very $style ?and ?$style ."},
    {STYLE, "?always keep ?all ?your|the|my $answers ?as|very|more $style ?and ?$style ?as ?possible ."},
    {STYLE, "?always give ?me|us ?only|more|very $style $answers ."},
    {STYLE, "?always answer|reply|respond ?more|very briefly|concisely|succinctly|tersely|precisely ."},
    {STYLE, "?always answer|reply|respond in ?more|great detail|depth ."},
    {STYLE, "i prefer|like|want ?more|very $style $answers ."},
    {STYLE, "i d|would like|prefer ?more|very $style $answers ."},
    {STYLE, "i prefer|like|want ?your|my $answers ?to ?be ?more|very $style ."},
    {STYLE, "?all your $answers should|must ?always be ?more|very $style ."},
    {STYLE, "no long|lengthy|verbose $answers ."},
    {STYLE, "avoid|skip ?giving long|lengthy|verbose $answers ."},
    {STYLE, "don t be|get ?so|too verbose|wordy|long ."},
    {STYLE, "don t explain so|too much ."},
    {STYLE, "skip the|all preamble|preambles|pleasantries|introductions|introduction ."},
    {STYLE, "?always explain everything|things in ?more|great detail ."},
    {STYLE, "?always use short|simple sentences ."},
    {STYLE, "get|come straight|right to the point ."},

    {TONE, "?always be ?more|less|very|always $tone ?and ?$tone ."},
    {TONE, "don t be ?so|too $tone ."},
    {TONE, "?always use|keep|adopt a|an ?more|very $tone tone|voice|register|style ."},
    {TONE, "?always keep ?the|your tone ?more|very $tone ."},
    {TONE, "?always write|speak|talk|answer|reply|respond ?to ?me in|with a|an ?more $tone "
           "tone|way|manner|style|voice ."},
    {TONE, "i prefer|like|want a|an ?more $tone tone|style ."},
    {TONE, "no ?more flattery|jokes|sarcasm|small ?talk ."},
    {TONE, "don t flatter me ."},
    {TONE, "stop apologizing|apologising|flattering ?me ."},

    {FORMAT, "?always|only use|prefer ?only $form ?in|for ?all ?your ?$answers ."},
    {FORMAT, "?always|only use|prefer ?only bullet|numbered points|lists ?in|for ?all ?your ?$answers ."},
    {FORMAT, "?always|only use|prefer ?only plain text ?only ?no|not|without ?$form ."},
    {FORMAT, "?always|only answer|reply|respond|write ?only in|with|as|using $form|text ?only ."},
    {FORMAT, "?always|only answer|reply|respond ?only in|with|as|using ?a plain|bullet|bulleted|numbered "
             "text|points|list|lists|prose ?only ."},
    {FORMAT, "?always format ?all ?your|the $answers in|as|with|using $form ."},
    {FORMAT, "?always format ?all ?your|the $answers in|as|with|using plain|bullet text|points|lists ."},
    {FORMAT, "no ?more $form ."},
    {FORMAT, "no ?more bullet points|lists ."},
    {FORMAT, "don t|never|dont use ?any $form ?in ?your ?$answers ."},
    {FORMAT, "do not use ?any $form ?in ?your ?$answers ."},
    {FORMAT, "never use ?any $form ?in ?your ?$answers ."},
    {FORMAT, "don t|never use ?any bullet points|lists ?in ?your ?$answers ."},
    {FORMAT, "never use bullet points|lists ?in ?your ?$answers ."},
    {FORMAT, "avoid|stop ?using $form ?in ?your ?$answers ."},
    {FORMAT, "avoid|stop ?using bullet points|lists ?in ?your ?$answers ."},
    {FORMAT, "plain text only ."},
    {FORMAT, "only plain text ."},
    {FORMAT, "i prefer ?your|my ?$answers ?in $form ."},
    {FORMAT, "i prefer ?your|my ?$answers ?in plain|bullet text|points ."},

    {EMOJI, "no ?more $emoji ?in ?all ?of ?your|the ?$answers ."},
    {EMOJI, "don t|dont use|add|put|write ?any|so|these ?many $emoji ?in ?your|the ?$answers ?any ?more|anymore ."},
    {EMOJI, "do not use|add|put|write ?any $emoji ?in ?your|the ?$answers ."},
    {EMOJI, "never use|add|put|write ?any $emoji ?in ?your|the ?$answers ."},
    {EMOJI, "stop using|adding|writing ?so|all|the|these ?many $emoji ?in ?your ?$answers ."},
    {EMOJI, "avoid|skip|drop ?using|the|all $emoji ?in ?your ?$answers ."},
    {EMOJI, "leave out the|all $emoji ."},
    {EMOJI, "i don t like|want ?any|to ?see $emoji ?in ?your ?$answers ."},
    {EMOJI, "?always use ?more|some $emoji ?in ?your ?$answers ."},

    {RULE, "for|in|within this|our|the $project ?: ?please ?always|never|only $do *"},
    {RULE, "for|in|within this|our|the $project ?: ?please don t|not $do *"},
    {RULE, "for|in|within this|our|the $project ?: ?please do not $do *"},
    {RULE, "for|in|within this|our|the $project ?: we ?always|never|only|all use|follow|prefer|write|"
           "keep|target|support|indent|name|avoid|put|call|run *"},
    {RULE, "always $do *"},
    {RULE, "never ?ever $do *"},
    {RULE, "you should|must always|never $do *"},
    {RULE, "i want|need|d|would ?like you to always|never $do *"},
    {RULE, "make sure ?that ?you ?to always|never $do *"},
    {RULE, "prefer * over *"},
    {RULE, "prefer * instead|rather of|than *"},
    {RULE, "use * instead of *"},
    {RULE, "use * rather than *"},
    {RULE, "@ ?always|never|only $do *"},
    {RULE, "@ don t $do *"},
    {RULE, "@ do not $do *"},
    {0, NULL},
};

/* --- German ----------------------------------------------------------------------------------- */

static const struct pattern german[] = {
    {NONE, "~ diesmal|dieses ?mal ."},
    {NONE, "~ fur|in diese|dieser|diesen|dies eine|einen|antwort|frage|nachricht ."},
    {NONE, "~ fur|in diese|dieser|diesen|dieses|diesem $teil ."},
    {NONE, "~ furs erste ."},
    {NONE, "verwende|nutze|benutze|nimm das|dies|es|ihn|sie|diesen|dieses|diese statt|anstatt|anstelle"},
    {NONE, "nimm den|die|das erste|zweite|dritte|letzte|andere|ersten|zweiten|letzten|anderen"},

    {FACT, "merk|merke dir ?bitte dass|: < *"},
    {FACT, "merk|merke dir ?bitte folgendes ?: < *"},
    {FACT, "merken sie sich ?bitte dass|: < *"},
    {FACT, "dir ?bitte merken dass < *"},
    {FACT, "denk|denke ?bitte ?immer daran dass < *"},
    {FACT, "denk|denke ?bitte daran|dran : < *"},
    {FACT, "denken sie ?bitte ?immer daran dass < *"},
    {FACT, "behalte|behalt ?bitte im hinterkopf|kopf|gedachtnis dass < *"},
    {FACT, "behalten sie ?bitte im hinterkopf|gedachtnis dass < *"},
    {FACT, "beachte|bedenke|bedenk ?bitte dass|: < *"},
    {FACT, "beachten|bedenken sie ?bitte dass < *"},
    {FACT, "vergiss ?bitte ?nie|niemals nicht|nie|niemals dass < *"},
    {FACT, "vergessen sie ?bitte nicht dass < *"},
    {FACT, "erinner|erinnere dich ?bitte ?daran dass < *"},
    {FACT, "nimm ?bitte zur kenntnis dass < *"},
    {FACT, "notier|notiere ?dir ?bitte dass|: < *"},
    {FACT, "?sehr wichtig : < *"},
    {FACT, "wichtig ist dass < *"},
    {FACT, "notiz|hinweis|info : < *"},
    {FACT, "?nur zur|als|fur info|information ?: < *"},
    {FACT, "nicht vergessen : < *"},

    {LANGUAGE, "$antworte|sprich|rede|sprechen ?sie ?mit ?mir ?bitte ?immer|nur|stets|ausschliesslich "
               "auf|in $language ."},
    {LANGUAGE, "sprich|rede ?bitte ?immer|nur $language ?mit ?mir ."},
    {LANGUAGE, "$antworte|sprich|rede ?bitte ?mir ?bitte ab jetzt|sofort ?immer|nur auf|in $language ."},
    {LANGUAGE, "?alle ?deine|ihre antworten ?bitte ?immer|nur|stets auf|in $language ."},
    {LANGUAGE, "ich mochte|will|hatte ?gern ?deine|alle antworten ?immer auf $language ."},
    {LANGUAGE, "ich mochte|will dass du ?mir ?immer|nur auf $language antwortest|schreibst|sprichst ."},
    {LANGUAGE, "immer|nur|stets ?nur auf|in $language ?antworten|schreiben|sprechen ."},
    {LANGUAGE, "auf|in $language antworten|schreiben|sprechen ."},
    {LANGUAGE, "@ ?nur|immer ?auf|in $language ."},
    {LANGUAGE, "@ lass uns ?auf|in $language sprechen|reden|schreiben ."},

    {STYLE, "fass|fasse ?dich ?bitte ?immer kurz|kurzer|knapp ?und|es ?bundig ."},
    {STYLE, "fassen sie sich ?bitte ?immer kurz|kurzer|knapp ."},
    {STYLE, "sei|seien ?sie ?bitte ?immer ?etwas|sehr|moglichst $stil ?und ?$stil ."},
    {STYLE, "$antworte ?sie ?mir ?bitte ?immer|stets ?nur|etwas|sehr|moglichst|so $stil ?und ?$stil ."},
    {STYLE, "halte|halt|halten ?sie ?bitte ?die|deine|ihre|alle antworten|erklarungen ?bitte ?immer "
            "?so|moglichst|etwas|sehr $stil ?und ?$stil ?wie ?moglich ."},
    {STYLE, "ich mag|bevorzuge|mochte|will ?lieber ?nur $stile antworten|erklarungen ."},
    {STYLE, "gib|geben ?sie ?mir ?bitte ?immer|nur $stile antworten|erklarungen ."},
    {STYLE, "keine langen|lange antworten|erklarungen|texte|einleitungen|einleitung ?mehr ."},
    {STYLE, "immer|stets $stil ?und ?$stil antworten ."},
    {STYLE, "?immer|nur $stile antworten|erklarungen ."},
    {STYLE, "deine antworten sollen|sollten ?immer $stil sein ."},
    {STYLE, "komm ?bitte ?immer ?gleich|direkt|sofort zum|auf punkt|den ?punkt ."},
    {STYLE, "erklare|erklar ?mir ?bitte ?immer alles $stil ."},

    {TONE, "sei|seien ?sie ?bitte ?immer ?etwas|sehr|weniger|nicht ?so $ton ?und ?$ton ."},
    {TONE, "duze|duz mich ?bitte ?immer ."},
    {TONE, "bleib|bleibe|bleiben ?sie ?bitte ?immer $ton ?und ?$ton ."},
    {TONE, "sieze|siez|siezen mich|sie ?mich ?bitte ?immer ."},
    {TONE, "sag|sagen ?bitte ?immer du|sie zu mir ."},
    {TONE, "sprich|rede mich ?bitte ?immer mit du|sie an ."},
    {TONE, "$antworte|sprich ?sie ?mir ?bitte ?immer in einem|einer $tonen ton|sprache|stil ."},
    {TONE, "verwende|nutze|benutze|wahle ?bitte ?immer einen $tonen ton|stil ."},
    {TONE, "keine schmeicheleien|witze|scherze|floskeln ?mehr ."},
    {TONE, "schmeichle|schmeichel mir nicht ?mehr ."},

    {FORMAT, "verwende|nutze|benutze|benutz|verwenden ?sie ?bitte ?immer|nur|stets ?nur $formen "
             "?in|fur ?alle|deinen|deine ?antworten ."},
    {FORMAT, "$antworte ?sie ?mir ?bitte ?immer|nur|stets ?nur in|als|mit ?reinem|reiner $formen|text|liste ."},
    {FORMAT, "formatiere ?bitte ?immer ?alle|deine antworten ?immer in|als|mit ?reinem $formen|text ."},
    {FORMAT, "kein|keine $formen ?mehr ."},
    {FORMAT, "verwende|nutze|benutze|benutz ?bitte kein|keine $formen ?mehr ."},
    {FORMAT, "verwende|nutze|benutze|benutz ?bitte nie|niemals $formen ."},
    {FORMAT, "verzichte|verzichten ?sie ?bitte auf $formen ."},
    {FORMAT, "nur klartext|fliesstext ."},
    {FORMAT, "nur reiner|reinen text ."},
    {FORMAT, "immer in|als|mit $formen ?antworten ."},
    {FORMAT, "ich bevorzuge|mag|mochte|will ?lieber $formen ."},

    {EMOJI, "kein|keine ?weiteren $emoji ?mehr ?in ?deinen|den ?antworten ."},
    {EMOJI, "verwende|nutze|benutze|benutz|schreib|schreibe|setz|setze|verwenden ?sie ?bitte kein|keine "
            "$emoji ?mehr ?in ?deinen ?antworten ."},
    {EMOJI, "verwende|nutze|benutze|benutz ?bitte nie|niemals ?wieder $emoji ."},
    {EMOJI, "nie|niemals $emoji verwenden|benutzen|nutzen ."},
    {EMOJI, "verzichte|verzichten ?sie ?bitte ?immer auf ?alle $emoji ?in ?deinen ?antworten ."},
    {EMOJI, "lass|lasse ?bitte ?immer die|alle $emoji weg ."},
    {EMOJI, "$antworte ?sie ?mir ?bitte ?immer ohne $emoji ."},
    {EMOJI, "?immer ohne $emoji antworten|schreiben ."},
    {EMOJI, "vermeide|vermeiden ?sie ?bitte $emoji ."},
    {EMOJI, "ich mag|will|mochte keine $emoji ?sehen ?mehr ."},
    {EMOJI, "verwende|nutze|benutze ?bitte ?gerne|gern|mehr|immer $emoji ."},

    {RULE, "fur|in dieses|diesem|dieser|unser|unserem|unsere $projekt ?gilt ?: ?bitte ?immer|nie|niemals|nur "
           "$tu *"},
    {RULE, "fur|in dieses|diesem|dieser|unser|unserem|unsere $projekt gilt : *"},
    {RULE, "fur|in dieses|diesem|dieser|unser|unserem|unsere $projekt ?bitte ?immer|nie|niemals|nur * $tun ."},
    {RULE, "fur|in dieses|diesem|dieser|unser|unserem|unsere $projekt $tun wir *"},
    {RULE, "$tu ?bitte immer|stets|nie|niemals|grundsatzlich *"},
    {RULE, "$tu * immer|stets|nie|niemals|grundsatzlich *"},
    {RULE, "$tu ?bitte ab jetzt|sofort *"},
    {RULE, "$tun sie ?bitte immer|stets|nie|niemals|grundsatzlich *"},
    {RULE, "immer|nie|niemals|stets|grundsatzlich * $tun ."},
    {RULE, "bevorzuge|bevorzug * vor|gegenuber|statt|anstatt *"},
    {RULE, "verwende|nutze|benutze|benutz|nimm * statt|anstatt|anstelle *"},
    {RULE, "verwende|nutze|benutze|nimm ?bitte lieber * als *"},
    {RULE, "@ ?immer|nie|niemals|nur $tu *"},
    {RULE, "$tu @ ?bitte *"},
    {RULE, "@ ?bitte ?immer|nie|niemals|nur|kein|keine * $tun ."},
    {0, NULL},
};

/* --- Spanish ---------------------------------------------------------------------------------- */

static const struct pattern spanish[] = {
    {NONE, "~ esta|por esta|una vez ."},
    {NONE, "~ en|para esta|la respuesta|pregunta ."},
    {NONE, "~ en|para este|esta|el|la $parte ."},
    {NONE, "~ por ahora ."},
    {NONE, "usa|utiliza este|esta|eso|esto|ese|esa en lugar|vez"},
    {NONE, "usa|utiliza el|la primero|primera|segundo|segunda|otro|otra|ultimo|ultima"},

    {FACT, "recuerda|recuerde|recuerden|recordar que|: < *"},
    {FACT, "acuerdate|acuerdese|acordarte de que < *"},
    {FACT, "acuerdate|acuerdese que < *"},
    {FACT, "ten|tenga|tened|tener ?siempre en cuenta que < *"},
    {FACT, "ten|tenga|tener ?siempre presente que < *"},
    {FACT, "no olvides|olvide|olvideis que < *"},
    {FACT, "no te olvides ?de que < *"},
    {FACT, "nunca olvides que < *"},
    {FACT, "anota|apunta|anotar|apuntar que|: < *"},
    {FACT, "toma nota ?de que|: < *"},
    {FACT, "?muy importante : < *"},
    {FACT, "para tu|su|vuestra informacion ?: < *"},
    {FACT, "nota|aviso : < *"},
    {FACT, "que conste que < *"},

    {LANGUAGE, "$responde|habla|hablame|hable ?siempre|solo|unicamente en $language ?siempre ."},
    {LANGUAGE, "responder|contestar ?siempre en $language ."},
    {LANGUAGE, "siempre $responde|habla|hablame en $language ."},
    {LANGUAGE, "?todas tus|las|sus respuestas ?siempre|deben ?ser en $language ."},
    {LANGUAGE, "quiero|prefiero ?tus|las|sus respuestas en $language ."},
    {LANGUAGE, "quiero|prefiero que ?me ?siempre respondas|contestes|hables|escribas ?siempre en $language ."},
    {LANGUAGE, "usa|utiliza ?siempre ?el $language ?para|en ?todas ?tus|las ?responder|respuestas ."},
    {LANGUAGE, "@ ?siempre|solo ?en $language ."},
    {LANGUAGE, "@ hablemos ?en $language ."},

    {STYLE, "se|sea ?siempre ?mas|muy|lo ?mas $breve ?y ?$breve ?posible ."},
    {STYLE, "$responde ?siempre de forma|manera|modo ?mas|muy $breve ."},
    {STYLE, "$responde ?siempre ?mas brevemente|concisamente|detalladamente|claramente ."},
    {STYLE, "$responde ?siempre con|en ?mas detalle|brevedad ."},
    {STYLE, "da|dame|deme|quiero|prefiero ?siempre ?solo ?tus|las respuestas ?mas|muy $breves ?y ?$breves ."},
    {STYLE, "manten|mantenga|haz ?siempre ?tus|las respuestas ?mas|muy $breves ."},
    {STYLE, "respuestas ?mas|muy $breves ?y ?$breves ."},
    {STYLE, "tus respuestas deben ser ?mas|muy $breves ."},
    {STYLE, "nada de respuestas|explicaciones largas ."},
    {STYLE, "no des|me ?des respuestas|explicaciones ?tan largas ."},
    {STYLE, "no te extiendas|enrolles ?tanto|demasiado|mucho ."},
    {STYLE, "evita ?las|dar respuestas|explicaciones largas ."},
    {STYLE, "explica|explicame ?siempre todo en|con detalle ."},
    {STYLE, "ve ?siempre al grano ."},

    {TONE, "se|sea ?siempre ?mas|menos|muy $tono ?y ?$tono ."},
    {TONE, "tuteame ?siempre ."},
    {TONE, "tratame|hablame|trateme|hableme ?siempre de tu|usted ."},
    {TONE, "usa|utiliza|manten|adopta|emplea ?siempre un tono|registro|estilo ?mas|muy $tono ."},
    {TONE, "$responde|habla|hablame ?siempre en|con un tono|registro|estilo ?mas|muy $tono ."},
    {TONE, "prefiero|quiero un tono ?mas|muy $tono ."},
    {TONE, "nada de bromas|halagos|chistes|adulaciones ."},
    {TONE, "no me halagues|adules ?mas ."},

    {FORMAT, "usa|utiliza|use|emplea ?siempre|solo ?solo ?las|los $formas ?en ?tus|las ?respuestas ."},
    {FORMAT, "usa|utiliza|use|emplea ?siempre|solo texto plano|simple ."},
    {FORMAT, "$responde ?siempre|solo ?solo en|con|usando ?formato $formas ."},
    {FORMAT, "$responde ?siempre|solo ?solo en|con|usando texto plano|simple ."},
    {FORMAT, "no uses|utilices|use ?mas|nunca|las ?las $formas ?en ?tus|las ?respuestas ."},
    {FORMAT, "nunca uses|utilices $formas ?en ?tus|las ?respuestas ."},
    {FORMAT, "nada de $formas ."},
    {FORMAT, "solo texto plano|simple ."},
    {FORMAT, "prefiero|quiero ?el|las|los $formas ."},
    {FORMAT, "prefiero|quiero ?el texto plano ."},
    {FORMAT, "evita ?usar|el|las|los ?las|los $formas ?en ?tus ?respuestas ."},
    {FORMAT, "siempre en|con $formas ."},

    {EMOJI, "nada de $emoji ?mas ?en ?tus ?respuestas ."},
    {EMOJI, "no ?me uses|utilices|pongas|use|anadas|escribas ?mas|nunca ?mas $emoji ?en ?tus|las ?respuestas ."},
    {EMOJI, "nunca uses|utilices|pongas $emoji ?en ?tus ?respuestas ."},
    {EMOJI, "evita ?usar|utilizar|el ?uso ?de ?los|el $emoji ?en ?tus ?respuestas ."},
    {EMOJI, "deja de usar|poner|utilizar ?tantos $emoji ."},
    {EMOJI, "$responde ?siempre sin $emoji ."},
    {EMOJI, "no quiero ?ver ?mas $emoji ?en ?tus ?respuestas ."},
    {EMOJI, "no me gustan los $emoji ."},
    {EMOJI, "sin $emoji ?en ?tus|las ?respuestas ."},
    {EMOJI, "usa|utiliza ?siempre ?mas $emoji ."},

    {RULE, "para|en este|nuestro $proyecto ?: ?por ?favor ?siempre|nunca|solo $haz *"},
    {RULE, "para|en este|nuestro $proyecto ?: ?por ?favor no|nunca $hagas *"},
    {RULE, "para|en este|nuestro $proyecto ?siempre|nunca|solo usamos|utilizamos|escribimos|seguimos|"
           "preferimos|empleamos *"},
    {RULE, "siempre $haz *"},
    {RULE, "$haz siempre *"},
    {RULE, "nunca|jamas $hagas *"},
    {RULE, "no $hagas nunca|jamas *"},
    {RULE, "prefiere|prefiera|prioriza * sobre|frente|antes|a *"},
    {RULE, "usa|utiliza|use|emplea * en lugar|vez de|del *"},
    {RULE, "usa|utiliza|use|emplea * y no *"},
    {RULE, "@ ?siempre|solo $haz *"},
    {RULE, "@ no|nunca $hagas *"},
    {0, NULL},
};

/* --- French ----------------------------------------------------------------------------------- */

static const struct pattern french[] = {
    {NONE, "~ cette fois ?ci|seulement ."},
    {NONE, "~ pour|dans cette|la reponse|question ?ci ."},
    {NONE, "~ pour|dans ce|cet|cette|le|la $partie ?ci ."},
    {NONE, "~ pour l instant ."},
    {NONE, "~ pour une fois ."},
    {NONE, "utilise|prends|utilisez|prenez ca|cela|celui|celle|ceci ?ci|la au|plutot|a"},
    {NONE, "utilise|prends|utilisez le|la premier|premiere|second|seconde|deuxieme|dernier|derniere|autre"},

    {FACT, "souviens|rappelle toi ?bien que|qu < *"},
    {FACT, "souvenez|rappelez vous ?bien que|qu < *"},
    {FACT, "te souvenir|rappeler que|qu < *"},
    {FACT, "n oublie|oublies|oubliez ?surtout pas|jamais que|qu < *"},
    {FACT, "note|notez|noter ?bien que|qu|: < *"},
    {FACT, "garde|gardez|garder ?bien a l esprit que|qu < *"},
    {FACT, "garde|gardez|garder ?bien en tete|memoire que|qu < *"},
    {FACT, "retiens|retenez|retenir ?bien que|qu|: < *"},
    {FACT, "sache|sachez que|qu < *"},
    {FACT, "tiens|tenez compte du fait que|qu < *"},
    {FACT, "prends|prenez note ?du ?fait que|qu < *"},
    {FACT, "?tres important : < *"},
    {FACT, "pour info|information ?: < *"},
    {FACT, "pour ton|votre info|information ?: < *"},
    {FACT, "nota|remarque : < *"},
    {FACT, "a noter ?: ?que|qu < *"},

    {LANGUAGE, "$reponds|parle|parlez|repondre ?moi ?toujours|uniquement|seulement en $language "
               "?uniquement|seulement|toujours ."},
    {LANGUAGE, "?toujours repondre en $language ."},
    {LANGUAGE, "?toutes tes|vos|les reponses ?toujours|doivent ?etre en $language ."},
    {LANGUAGE, "je veux|voudrais|souhaite|prefere que tu|vous ?me reponds|repondes|repondiez|parles|"
               "parliez ?toujours en $language ."},
    {LANGUAGE, "je veux|voudrais|souhaite|prefere des|tes|vos|les reponses en $language ."},
    {LANGUAGE, "utilise|utilisez ?toujours le|l $language ?pour|dans ?toutes ?tes|vos|les ?reponses ."},
    {LANGUAGE, "@ ?toujours|uniquement ?en $language ."},
    {LANGUAGE, "@ parlons ?en $language ."},

    {STYLE, "sois|soyez ?toujours ?plus|tres|le ?plus $bref ?et ?$bref ?possible ."},
    {STYLE, "$reponds ?moi ?toujours de facon|maniere ?plus|tres $bref ."},
    {STYLE, "$reponds ?moi ?toujours ?plus brievement|succinctement|precisement ."},
    {STYLE, "$reponds ?moi ?toujours en detail ."},
    {STYLE, "donne|donnez ?moi ?toujours des reponses|explications ?plus|tres $courtes ?et ?$courtes ."},
    {STYLE, "fais|faites ?toujours court|bref|simple ."},
    {STYLE, "fais|faites ?toujours des reponses ?plus|tres $courtes ."},
    {STYLE, "je prefere|veux|voudrais|souhaite des|les|tes|vos reponses ?plus|tres $courtes ."},
    {STYLE, "garde|gardez ?toujours tes|vos|les reponses $courtes ."},
    {STYLE, "tes|vos reponses doivent ?toujours etre ?plus|tres $courtes ."},
    {STYLE, "pas de longues reponses|explications ."},
    {STYLE, "pas de reponses|explications ?trop longues ."},
    {STYLE, "evite|evitez les|de|des longues reponses|explications ."},
    {STYLE, "evite|evitez les|des reponses|explications ?trop longues ."},
    {STYLE, "va|allez ?toujours droit au but ."},
    {STYLE, "explique|expliquez ?moi ?toujours tout en detail ."},
    {STYLE, "ne sois|soyez pas ?trop|si long|bavard|verbeux|longue|bavarde ."},

    {TONE, "sois|soyez ?toujours ?plus|moins|tres $tons ?et ?$tons ."},
    {TONE, "ne sois|soyez pas ?trop|si $tons ."},
    {TONE, "tutoie|tutoyez|vouvoie|vouvoyez moi ?toujours ."},
    {TONE, "on se tutoie|vouvoie ."},
    {TONE, "adopte|utilise|emploie|garde|adoptez|utilisez|gardez ?toujours un ton|registre|style "
           "?plus|tres $tons ."},
    {TONE, "$reponds|parle|parlez ?moi ?toujours sur|avec|dans un ton|style|registre ?plus|tres $tons ."},
    {TONE, "je prefere|veux|voudrais un ton ?plus|tres $tons ."},
    {TONE, "pas de flatterie|flatteries|blagues|plaisanteries ."},
    {TONE, "ne me flatte|flattez pas ."},
    {TONE, "arrete|arretez de t|vous|me excuser|flatter ."},

    {FORMAT, "utilise|utilisez|emploie ?toujours|uniquement ?le|des|du|les $formes ?dans|pour ?toutes "
             "?tes|vos ?reponses ."},
    {FORMAT, "utilise|utilisez|emploie ?toujours|uniquement du texte brut|simple ."},
    {FORMAT, "$reponds ?moi ?toujours|uniquement|seulement en|avec ?des|du $formes ."},
    {FORMAT, "$reponds ?moi ?toujours|uniquement sous forme de $formes ."},
    {FORMAT, "$reponds ?moi ?toujours|uniquement|seulement en texte brut|simple ."},
    {FORMAT, "formate|formatez|mets ?toujours tes|vos|les reponses en|avec ?des $formes ."},
    {FORMAT, "pas|plus|jamais de $formes ?dans ?tes|vos ?reponses ."},
    {FORMAT, "n utilise|utilisez ?surtout pas|plus|jamais ?de|le|des|les $formes ?dans ?tes|vos ?reponses ."},
    {FORMAT, "texte brut uniquement|seulement ."},
    {FORMAT, "uniquement|seulement du texte brut ."},
    {FORMAT, "evite|evitez ?d ?utiliser le|les|la|du|des $formes ?dans ?tes ?reponses ."},
    {FORMAT, "je prefere|veux le|les|du|des $formes ."},
    {FORMAT, "je prefere|veux le|du texte brut ."},

    {EMOJI, "pas|plus|jamais d|de $emoji ?dans ?tes|vos|les ?reponses ."},
    {EMOJI, "n utilise|utilisez|ajoute|ajoutez ?surtout pas|plus|jamais d|de|les $emoji ?dans ?tes|vos "
            "?reponses ."},
    {EMOJI, "ne mets|mettez ?surtout pas|plus|jamais d|de $emoji ?dans ?tes|vos ?reponses ."},
    {EMOJI, "sans $emoji ?dans ?tes|vos|les ?reponses ."},
    {EMOJI, "evite|evitez ?d ?utiliser ?les|des|d $emoji ?dans ?tes|vos ?reponses ."},
    {EMOJI, "arrete|arretez ?avec ?d ?utiliser ?les|des $emoji ."},
    {EMOJI, "arrete|arretez de mettre|utiliser des|d|les $emoji ."},
    {EMOJI, "$reponds ?moi ?toujours sans $emoji ."},
    {EMOJI, "je ne veux pas|plus ?voir d|de $emoji ?dans ?tes|vos ?reponses ."},
    {EMOJI, "je n aime pas les $emoji ."},
    {EMOJI, "utilise|utilisez ?toujours ?plus ?des|d $emoji ."},

    {RULE, "pour|dans|sur ce|notre $projet ?: ?toujours $fais *"},
    {RULE, "pour|dans|sur ce|notre $projet ?: n|ne $fais pas|jamais|plus *"},
    {RULE, "pour|dans|sur ce|notre $projet ?: on|nous ?n ?ne utilise|utilisons|ecrit|ecrivons|suit|suivons|"
           "prefere|preferons|emploie *"},
    {RULE, "$fais toujours *"},
    {RULE, "toujours $faire *"},
    {RULE, "n|ne $fais jamais *"},
    {RULE, "ne jamais $faire *"},
    {RULE, "prefere|preferez|privilegie|privilegiez * a|aux|au|plutot *"},
    {RULE, "utilise|utilisez|emploie|prends|prenez * au lieu de|du|d|des *"},
    {RULE, "utilise|utilisez|emploie|prends|prenez * plutot que|qu *"},
    {RULE, "utilise|utilisez|emploie|prends|prenez * a la place de|du|d|des *"},
    {RULE, "@ ?toujours $fais *"},
    {RULE, "@ n|ne $fais pas|plus|jamais *"},
    {0, NULL},
};

/* clang-format on */

/* --- matching --------------------------------------------------------------------------------- */

/* The words of a sentence from `first` to before `end`. */
struct said {
    const struct folded_words *words;
    size_t first, end;
    bool lasting; /* "from now on" was said */
};

/* Whether the word is one of the alternatives: "word|word|$class". */
static bool is_of(const char *word, const char *alternatives, size_t len)
{
    size_t mine = strlen(word);
    for (const char *at = alternatives, *stop = alternatives + len; at < stop;) {
        const char *bar = memchr(at, '|', (size_t)(stop - at));
        size_t one = (size_t)((bar ? bar : stop) - at);
        const char *class = NULL;
        for (size_t i = 0; *at == '$' && !class && i < sizeof classes / sizeof *classes; i++)
            if (strlen(classes[i].name) == one - 1 && memcmp(classes[i].name, at + 1, one - 1) == 0)
                class = classes[i].words;
        if (class ? is_of(word, class, strlen(class)) : one == mine && memcmp(at, word, one) == 0)
            return true;
        at += one + 1;
    }
    return false;
}

static size_t element_len(const char *pattern)
{
    return strcspn(pattern, " ");
}

static const char *element_after(const char *pattern)
{
    pattern += element_len(pattern);
    return pattern + strspn(pattern, " ");
}

/* Whether the words from `at` on fit the pattern; *kept is where the text begins that is kept. */
static bool fits(const struct said *s, size_t at, const char *pattern, size_t *kept)
{
    const char *rest = element_after(pattern);
    size_t len = element_len(pattern);
    switch (*pattern) {
    case '\0':
        return true;
    case '.':
        return at == s->end;
    case '@':
        return s->lasting && fits(s, at, rest, kept);
    case '<':
        *kept = at;
        return fits(s, at, rest, kept);
    case '*':
    case '~':
        for (size_t next = at + (*pattern == '*'); next <= s->end; next++)
            if (fits(s, next, rest, kept))
                return true;
        return false;
    case '?':
        if (at < s->end && is_of(s->words->items.items[at].text, pattern + 1, len - 1) &&
            fits(s, at + 1, rest, kept))
            return true;
        return fits(s, at, rest, kept);
    default:
        return at < s->end && is_of(s->words->items.items[at].text, pattern, len) &&
               fits(s, at + 1, rest, kept);
    }
}

/* How many words the phrase has, if it stands at `at`; 0: it does not. */
static size_t phrase_at(const struct said *s, size_t at, const char *phrase)
{
    size_t count = 0;
    for (const char *p = phrase; *p; p = element_after(p), count++)
        if (at + count >= s->end ||
            !is_of(s->words->items.items[at + count].text, p, element_len(p)))
            return 0;
    return count;
}

static bool strip_before(struct said *s, bool *asks)
{
    for (const struct courtesy *c = before_it; c->words; c++) {
        size_t count = phrase_at(s, s->first, c->words);
        if (count == 0)
            continue;
        s->first += count;
        s->lasting = s->lasting || c->lasting;
        *asks = *asks || c->asks;
        return true;
    }
    return false;
}

static bool strip_behind(struct said *s)
{
    for (const struct courtesy *c = behind_it; c->words; c++) {
        size_t len = 0;
        for (const char *p = c->words; *p; p = element_after(p))
            len++;
        if (len > s->end - s->first || phrase_at(s, s->end - len, c->words) == 0)
            continue;
        s->end -= len;
        s->lasting = s->lasting || c->lasting;
        return true;
    }
    return false;
}

/* --- directives ------------------------------------------------------------------------------- */

/* Marks that belong to the first and the last word are kept with them: `code`, (brackets). */
static char *text_of(const struct sentence *sentence, const struct said *s, size_t kept)
{
    const struct folded_word *first = &s->words->items.items[kept];
    const struct folded_word *last = &s->words->items.items[s->end - 1];
    size_t begin = first->begin, end = last->end;
    size_t before = kept > 0 ? s->words->items.items[kept - 1].end : 0;
    bool whole = s->end == s->words->items.len;
    while (begin > before && !strchr(" \t,'", sentence->text[begin - 1]) &&
           (kept == 0 || strchr("`\"([{<$./~@#-", sentence->text[begin - 1])))
        begin--;
    if (whole)
        end = sentence->len;
    while (end > begin && strchr(" \t,", sentence->text[end - 1]))
        end--;
    return mem_strndup(sentence->text + begin, end - begin);
}

bool directive_of(const struct sentence *s, struct directive *out)
{
    static const struct pattern *const tables[] = {english, german, spanish, french};
    AUTO(folded_words_release) struct folded_words words = {0};
    const struct pattern *found = NULL;
    bool asks = false;
    size_t kept = 0;
    *out = (struct directive){.text = NULL};
    if (s->len > LEARNED_TEXT_BYTES || !utf8_valid(s->text, s->len) || sentence_quotes(s))
        return false;
    folded_words_read(s->text, s->len, &words);
    struct said said = {.words = &words, .end = words.items.len};
    while (strip_before(&said, &asks))
        continue;
    while (strip_behind(&said))
        continue;
    if (s->question && !asks)
        return false;
    for (size_t t = 0; t < sizeof tables / sizeof *tables && !found; t++)
        for (const struct pattern *p = tables[t]; p->pattern && !found; p++) {
            kept = said.first;
            if (fits(&said, said.first, p->pattern, &kept))
                found = p;
        }
    if (!found || found->kind == NONE || (kept > said.first && said.end < kept + WORDS_LEAST))
        return false;
    *out =
        (struct directive){.kind = (enum learned_kind)found->kind, .text = text_of(s, &said, kept)};
    return true;
}

void directives_release(struct directives *d)
{
    for (size_t i = 0; i < d->items.len; i++)
        free(d->items.items[i].text);
    vec_release(&d->items);
}

void directives_read(const char *message, struct directives *out)
{
    AUTO(vec_release_local) struct sentences sentences = {0};
    struct directive d;
    sentences_read(message, &sentences);
    for (size_t i = 0; i < sentences.items.len && out->items.len <= DIRECTIVES_MOST; i++) {
        bool known = !directive_of(&sentences.items.items[i], &d);
        for (size_t k = 0; k < out->items.len && !known; k++)
            known = strcmp(out->items.items[k].text, d.text) == 0;
        if (known)
            free(d.text);
        else
            vec_push(&out->items, d);
    }
    if (out->items.len > DIRECTIVES_MOST)
        directives_release(out);
}
