"""The words by which people make rules in other languages than English: Chinese, Japanese, Korean, Russian, German,
French, Spanish and Portuguese. As in `constraint_cues` they are looked for in single sentences.
"""

OTHER_SCRIPTS = (
    # Chinese
    (
        r"(?:不要|不得|不准|不许|不許|不可以?(?!能)|禁止|严禁|嚴禁|切勿|请勿|請勿|切忌|杜绝|避免|不允许"
        r"|不允許)(?!紧|緊|急|担心|擔心|客气|管|谢)"
    ),
    (
        r"(?:^|[，,。；;：:、\s请請也就都先千万千萬])(?:别|別)(?!的|人|处|處|名|扭|急|担心|擔心|管|致|墅|无|無|说"
        r"|客气|问)"
    ),
    (
        r"(?:^|[，,。；;：:、\s])(?:你|您|都|也|绝对|絕對|千万|千萬)?(?:不能|不该|不該|不应|不應)(?!.{0,12}(?:了"
        r"|吗|嗎|$)$)"
    ),
    (
        r"必须|必須|务必|務必|一定要|只能|只(?:可以?|用|准|准许|允许|許|许|改|修改|使用|回答|输出)|(?:^"
        r"|[，,。；;\s请請你])(?:总是|總是|始终|始終|永远|永遠|一律|统一|統一)"
    ),
    (
        r"从(?:现在|今|此)(?:开始|起|以后)?|從(?:現在|今|此)(?:開始|起|以後)?|今后|今後|(?:以后|以後|之后"
        r"|之後)(?:都|请|請|要|不|每|所有)|每次|每当|每當|任何时候|任何時候"
        r"|无论何时|除非|未经|未經"
    ),
    (
        r"(?:请|請|都|一律|统一|始终|全程)?用(?:中文|英文|英语|日语|日文|简体|繁体|繁體|法语|德语|口语"
        r"|书面).{0,4}(?:回答|回复|回覆|答|写|寫|交流|注释|输出|說|说)|(?:尽量|盡量"
        r"|优先|優先)(?:使用|用|选|選|采用|考虑|保持|简|少|不)|保持.{1,16}(?:不变|不變|简洁|簡潔|一致|风格|原样)"
    ),
    # What somebody's body, belief or taste rules out holds for whatever is proposed; so does what they like.
    (
        r"(?:我(?:们)?(?:家里?)?|我們|家里|孩子|老婆|太太|老公|先生|妈妈|爸爸|母亲|父亲|奶奶|爷爷|外婆|女儿|儿子"
        r"|宝宝)(?:们|都|从来|完全|也|平时){0,2}"
        r"(?:不|不能|不可以|没法)(?:吃|喝|坐(?![了这那])|碰|坐飞机|住|抽|爬|开车)"
        r"|(?:^|[，,；;])(?:她|他)们?(?:都|也){0,2}(?:不|不能)(?:吃|喝)(?!了|完|过)|对.{1,10}过敏|(?:吃素|素食|清真"
        r"|忌口)"
    ),
    (
        r"(?:^|[，,。；;\s])我们?(?:都|更|比较|最|一直|还是){0,2}(?:喜欢用?|偏好|倾向于?|习惯用?|讨厌|不喜欢"
        r"|不想要|不爱)(?!这个|那个|这种|它|你|他|她|了)"
    ),
    r"(?:^|[，,]|请|要|都)保持.{1,10}",
    # What is due of all of a kind, and from now on.
    r"(?:所有|每个|每次|每一|任何|凡是|一切|全部)[^，。]{1,20}?(?:都)?(?:要(?!求)|得(?!到|了)|需要|应该?)[^了]{2,}$",
    (
        r"(?:^|[，,。；;、\s]|请|請|麻烦你?|希望你?|你|您)(?:以后|以後|往后|接下来)"
        r"(?!再|有|会|可能|看|说|吧|了|的事|怎么|可以|不用|不必|不需要|就(?:知道|好|行))[^，。了]{2,}"
    ),
    (
        r"(?<!我们)(?<!他们)(?<!大家)(?:都|一律|统一|統一|均|全部|全程)(?:以|按|按照|用|使用|采用|写成?|放在?|存"
        r"|走)[^了]{2,}"
    ),
    # When nothing is done; how much there is at most; who is not to know.
    (
        r"(?:^|[，,])[^，,。]{0,8}(?:周末|周[一二三四五六日天]|星期|节假日|假期|晚上|早上|夜里|半夜|上班时间"
        r"|行程里?|行程中)[^，。]{0,12}"
        r"(?<!为什么)不(?:部署|发布|安排|上线|工作|开会|加班|联系|打扰|订|接|排)(?!.*了)"
    ),
    (
        r"(?:别|不要|不能|不得|不可|不许)(?:超过|超出|高于|低于|多于|少于)|(?:控制|限制|保持|压)在.{1,12}(?:以内"
        r"|以下|之内|内)"
        r"|(?:预算|上限|篇幅|字数|每次|每天|每晚|每人)[^，。]{0,10}(?:最多|至多|不超过)"
    ),
    r"保留.{1,3}位小数|(?:回答|回复|汇报|写代码|写邮件|总结|提交|引用)(?:时|的时候)[^。？]{0,4}(?:先|要|请|都|用|不)",
    r"保密|(?:不要|别|不能|不许)(?:告诉|透露|泄露|外传|声张)|瞒着|只有我们知道",
    r"(?:之前|以前|前)[^，。]{0,3}(?:请|要|都|务必|得)?先(?:问|告诉|通知|征求|征得|跟我|和我|让我|给我)",
    # Japanese
    (
        r"(?:私|僕|俺|うち|家族|母|父|妻|夫|娘|息子|子供|子ども|祖母|祖父|両親)[^。]{0,20}"
        r"(?:食べ(?:られ)?ない|食べ(?:られ)?ません|飲(?:め|み|ま)(?:ない|ません)|アレルギー|苦手|乗れ(?:ない|ません))"
    ),
    r"(?:し|い|み|き|ち|り|え|び|げ|せ|て)たく(?:ない|ありません)(?:です)?[。！!]?$|(?:欲|ほ)しくない",
    (
        r"(?:ない|ず)で(?:ほしい|欲しい|もらえ|もらい|いただ|くれ|おいて)|方針(?:です|だ|で)|(?:こと|きまり|決まり"
        r"|ルール)に(?:して|なって)い(?:る|ます)"
    ),
    r"(?:で|に)統一|統一して|(?:すべて|全て|全部|一貫して)[^。]{1,16}(?:で|に)(?:[。]?$|お願い|統一)",
    r"(?:ずつ|ごとに|のみで|だけで)[^。]{0,12}(?:ください|下さい|お願い)",
    r"(?:避けて|控えて)(?:ください|下さい|ほしい|欲しい|くれ|ね)?[。！!]?$",
    r"で(?:書いて|答えて|表記して|表示して|出力して|記載して|説明して|話して)(?:ください|下さい|ほしい|欲しい|くれ)",
    r"以内(?:に|で)(?:収|抑|して|お願い|[。]?$)|(?:以下|まで)に(?:収|抑|して)|超えない(?:ように|で)",
    r"内緒|秘密に|口外|他言|無断で|(?:相談|断り|連絡)(?:も)?なし(?:に|で)",
    r"前に(?:は)?(?:必ず|まず|一度|私に|先に)?(?:確認|相談|聞い|許可|知らせ|連絡)",
    (
        r"(?:しないで|ないでください|ないで下さい|ないように|ないこと(?=[。！!、\s]|$)|てはいけ|てはなら|ではいけ"
        r"|ではなら|ちゃだめ|ちゃダメ|禁止|厳禁|べからず|は不可|してはダメ|してはだめ)"
    ),
    (
        r"必ず|絶対に|絶対|つねに|常に|毎回|いつも.{0,20}(?:して|で)|今後|これから(?:は|ずっと)|以降(?:は|、)"
        r"|(?:する|ある|なる|ない)ように(?:して|お願い|する)|(?:のみ|だけ)に(?:して|限)|(?:のみ"
        r"|だけ)(?:を)?(?:使|変更|編集|出力|回答|書)|(?:日本語|英語|敬語|簡潔|丁寧語?)(?:に|で)(?:答|回答|返|書"
        r"|お願い|返信|コメント)|必須|なるべく|できるだけ|許可なく|許可なしに"
        r"|確認せずに|勝手に.{0,20}(?:ない|な[。！]?$)"
    ),
    # Korean
    (
        r"(?:하지|지)\s?(?:마|말|않도록)|금지|절대(?:로)?|반드시|항상|앞으로는?|지금부터|이제부터|(?:하면"
        r"|면)\s?안\s?(?:돼|됩|된)|(?:해야|어야|아야)\s?(?:합니다|한다"
        r"|해요|해|함)|(?:만|만을)\s?(?:사용|수정|변경|출력)|(?:한국어|영어)로\s?(?:답|대답|작성|써|응답)"
        r"|허락\s?없이|매번"
    ),
    # Russian
    (
        r"(?i)\b(?:никогда|нельзя|запрещ\w+|ни в коем случае|обязательно|с этого момента|отныне|впредь|в дальнейшем"
        r"|не смей|не (?:трогай|меняй|удаляй|изменяй|используй|пиши|добавляй|коммить|делай|пушь|переименовывай"
        r"|запускай|отправляй|публикуй|редактируй|трогать|менять|удалять)(?:те)?|избегай(?:те)?|отвечай(?:те)? (?:на"
        r"|по|только|всегда|кратко)|без (?:моего|разрешения|спроса)|только (?:используй|меняй|пиши|на русском"
        r"|по-русски))\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\bи\s|\bно\s|пожалуйста,?\s)всегда\b|\bдолж(?:ен|на|ны|но) (?:всегда|быть|использовать"
        r"|отвечать|оставаться)\b"
    ),
)
"""Not one of these can match a text in ASCII."""

OTHER_LANGUAGES = (
    # German
    r"(?i)(?:^|[,;:]\s)(?:bitte\s)?(?:duze?|sieze?|nenne?|sprich)\s(?:bitte\s)?(?:mich|uns)\b|\bper (?:Du|Sie)\b",
    (
        r"(?i)\b(?:ich|wir|(?:mein|unser)e?\s\w+)\s(?:essen?|isst|trinken?|trinkt|fliegen?|fliegt|rauchen?|raucht"
        r"|vertrage?"
        r"|vertragen|verträgt|mag|mögen|fahren?)\s(?:\w+\s){0,2}(?:kein\w*|nie|niemals)\b|\ballergisch (?:gegen|auf)\b"
        r"|\b(?:ich bin|wir sind|(?:mein|unser)e?\s\w+\sist)\s(?:\w+\s)?(?:Vegetarier\w*|Veganer\w*|vegan"
        r"|vegetarisch)\b"
    ),
    (
        r"(?i)\b(?:ich|wir)\s(?:möchten?|will|wollen|wünschen?|erwarten?|bevorzugen?|hätten? gerne?|hätten? lieber)\b"
        r"[^.?!]{0,60}\b(?:kein\w*|nie|nicht mehr|immer|stets|nur noch|jede\w*|lieber)\b|\bich (?:hasse|bevorzuge)\b"
    ),
    (
        r"(?i)\b(?:grundsätzlich|prinzipiell|generell)\s(?:nicht|nie|kein\w*|nur)\b|\b(?:mir"
        r"|uns)\s(?:bitte\s)?(?:immer|stets|jedes Mal)\b"
    ),
    (
        r"(?i)^\W*(?!.*\b(?:ist|sind|war|hat|haben|wird|läuft|geht|kommt|fährt|gibt|steht|funktioniert|ich|er|sie"
        r"|es|wir|hatten?"
        r"|kam(?:en)?|bin)\b)[\wäöüß-]+(?:\s[\wäöüß-]+){0,4}\snur\s(?:nach|mit|bei|in|im|an|am|über|von|zwischen"
        r"|ab|bis|auf)\b"
    ),
    # When nothing is done; how it is done throughout; how much there is at most.
    (
        r"(?i)\b(?:(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|wochenenden?|feiertag\w*|abends|nachts)\b"
        r"[^.?!,]{0,20}\b(?:wird|werden)\s(?:\w+\s)?(?:nicht|nie|kein\w*|nur)\b"
    ),
    (
        r"(?i)^\W*(?!(?:es|er|sie|das|der|die|dieser?|ich|wir|ihr|man|warum|wenn|weil|mein\w*"
        r"|unser\w*)\b)[^.?!,]{2,60}\s"
        r"(?:immer|durchgehend|durchgängig|grundsätzlich|ausnahmslos|ausschließlich|stets)\s"
        r"(?!.*\b(?:ist|sind|war|waren|hat|haben|wird|läuft|geht|kommt|fehlt|wieder|noch|mehr)\b)\w"
    ),
    (
        r"(?i)^\W*(?:bitte\s)?(?:höchstens|maximal|mindestens|nicht (?:mehr|länger) als)\s\w+\s\w+"
        r"(?!.*\b(?:ist|sind|war|waren|hat|hatten?|gab|kamen|kam)\b)"
        r"|\b(?:höchstens|maximal|mindestens)\s(?:\d+|eine?\w?|zwei|drei|vier|fünf|sechs"
        r"|zehn)\s[^.?!,]{1,30}\b(?:pro|je|am)\b"
    ),
    r"(?i)^\W*(?:bitte\s)?(?:schreibe?|verwende|nutze)\s(?:bitte\s)?(?:kurze|einfache|ganze|vollständige)\s\w+",
    # What stays as it is, and among whom.
    (
        r"(?i)\b(?:bleibt|bleiben)\s(?:bitte\s)?(?:unter uns|geheim|vertraulich|unverändert|unberührt|(?:so )?wie)\b"
        r"|\bvertraulich\b|\bbehalte?\b[^.?!]{1,40}\bfür dich\b|\bFinger\s(?:weg\s)?von\b"
    ),
    (
        r"(?i)\b(?:frage?|fragt|melde|sage?|zeige?|gib)\s(?:mich|mir|uns|dich|bitte)\b[^.?!]{0,20}\b(?:bevor"
        r"|vorher|zuerst)\b"
        r"|\bbevor du\b[^.?!]{3,80}, (?:bitte )?(?:frage?|sage?|zeige?|melde|gib|prüfe?)\b"
    ),
    r"(?i)\bbitte\s(?:\w+\s){0,3}(?:ohne|nur|immer|stets|in ganzen)\b|^\W*jede[rs]?\s\w+\s(?:erst|nur|immer|zuerst)\b",
    r"(?i)^\W*jede[rs]?\s\w+(?:\s\w+)?\s(?:bekommt|kriegt|erhält|braucht|muss|soll|endet mit|beginnt mit|kommt)\b",
    r"(?i)^\W*(?:und |aber |bitte )*(?:vor|nach|bei|in|für|mit) jede[mrsn]\s(?!Fall\b|Tag\b)\w+",
    (r"(?i)^\W*halte?\s[^.?!]{1,40}\b(?:kurz|knapp|einfach|sachlich|klein|geheim|aktuell|sauber|unter|frei|lesbar)\b"),
    (
        r"(?i)^\W*(?:bitte\s)?keine?[rn]?\s(?!Ahnung|Problem|Sorge|Frage|Zeit|Idee|Lust|Wunder|Fehler|Änderung"
        r"|Panik|Eile|Angst|Stress"
        r"|Thema|Chance|Antwort)\w+(?!.*\b(?:ist|sind|war|hat|geht|kam|gefunden|da|mehr|wurde\w*|wird)\b)"
    ),
    (
        r"(?i)(?<!noch )(?<!geht )(?<!läuft )(?<!klappt )\b(?:nie(?:mals)?|nie wieder|auf keinen Fall|keinesfalls"
        r"|unter keinen Umständen|verboten|untersagt|tabu"
        r"|(?:darf|dürfen|darfst|soll|sollen|sollst)\b[^.?!]{0,60}\b(?:nicht|nie|niemals|niemand|kein\w*|nur)"
        r"|Finger weg|bitte (?:\w+ )?kein\w*"
        r"|ab (?:jetzt|sofort|heute)|künftig|zukünftig|in Zukunft|unbedingt|stets|ohne (?:Rückfrage|meine|zu fragen"
        r"|Genehmigung|Freigabe|Absprache))\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\bund\s|\baber\s)(?:bitte\s)?(?:immer|nur noch|vermeide|vermeiden Sie|bevorzuge"
        r"|verwende (?:immer|nur|stets)|benutze (?:immer|nur|stets)|nutze (?:immer|nur)|antworte (?:immer|nur|mir"
        r"|bitte|auf|kurz)|schreibe? (?:immer|alle|auf)|halte? dich)\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\baber\s|\bund\s)(?:bitte\s)?(?:[^.,?!]{0,60}\s)?(?:nicht"
        r"|keine?n?)\s(?:[^.,?!]{0,50}\s)?(?:ändern|anfassen|löschen|verändern|bearbeiten|committen|pushen|verwenden"
        r"|benutzen|nutzen|entfernen|umbenennen|berühren|überschreiben|hinzufügen|schreiben|einfügen|ausführen"
        r"|erwähnen|weitergeben|installieren|mergen)\b\s*[.!]?"
    ),
    (
        r"(?i)^(?:bitte\s)?(?:fass|fasst|änder[en]?|lösch[en]?|verwende|benutze|nutze|rühr|mach|schreib|nimm|committe"
        r"|pushe|lass)\s[^.?!]{0,80}\b(?:nicht|nie|kein\w*|in Ruhe|unverändert)\b"
    ),
    # French
    (
        r"(?i)(?:^|[,;:]\s|\bet\s|\bmais\s|plaît,?\s|svp,?\s)(?:merci de\s|s'il (?:te|vous) plaît,?\s|svp,?\s"
        r"|veuillez\s|surtout,?\s)*(?:ne\s|n['’])(?!(?:t|vous|te) inqui|importe|est|a\b|y a|ai)[^.?!]{1,60}\b(?:pas"
        r"|jamais|plus|rien|aucune?|que)\b"
    ),
    (
        r"(?i)\b(?:interdit|interdiction|il ne faut (?:pas|jamais)|il faut toujours|(?:tu|vous) (?:dois|devez|ne dois"
        r"|ne devez)|à partir de maintenant|désormais|dorénavant|à l['’]avenir|en aucun cas|sans (?:mon accord"
        r"|ma permission|me demander|demander|autorisation)|obligatoire(?:ment)?|impérativement)\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\bet\s|\bmais\s)(?:toujours|uniquement|seulement|évite[zr]?"
        r"|réponds?(?:ez)?[- ](?:moi )?(?:toujours |uniquement )?en|répondez (?:toujours )?en|utilise[zr]? (?:toujours"
        r"|uniquement|seulement)|privilégie[zr]?|garde[zr]? .{1,40}(?:court|simple|concis|inchangé|tel))"
    ),
    r"(?i)\btoujours (?:utiliser|répondre|demander|écrire|citer|vérifier|lancer)\b",
    # Spanish and Portuguese
    (
        r"(?i)(?:^|[,;:]\s|\by\s|\be\s|\bpero\s|\bmas\s|favor,?\s)(?:por favor,?\s)?(?:nunca|jamás|jamais|siempre"
        r"|sempre)\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\by\s|\be\s|\bpero\s|\bmas\s|favor,?\s)(?:por favor,?\s)?n(?:o|ão)\s(?:me\s|lo\s|la\s|los\s"
        r"|las\s|se\s|os?\s|as?\s)?(?:toques?|cambi(?:es|e)|modifi(?:ques|que)|borr(?:es|e)|us(?:es|e)|elimin(?:es|e)"
        r"|edit(?:es|e)|hag(?:as|a)|agregu(?:es|e)|añad(?:as|a)|pong(?:as|a)|inclu(?:yas|ya|a)|escrib(?:as|a)"
        r"|compart(?:as|a)|muev(?:as|a)|ejecut(?:es|e)|sub(?:as|a)|hagan|respond(?:as|a)|mex(?:as?|am)|alter(?:e|es)"
        r"|mud(?:e|es)|apagu(?:e|es)|delet(?:e|es)|remov(?:a|as)|faç(?:a|as)|adicion(?:e|es)|coloqu(?:e|es)|escrev(?:a"
        r"|as)|envi(?:e|es)|compartilh(?:e|es)|crie|instale|tocar|cambiar|modificar|borrar|usar|alterar|mexer"
        r"|apagar)\b"
    ),
    (
        r"(?i)\b(?:prohibido|proibido|a partir de (?:ahora|agora)|de ahora en adelante|de agora em diante|en adelante"
        r"|daqui (?:para a frente|em diante)|en ningún caso|bajo ninguna circunstancia|em hipótese alguma"
        r"|de jeito nenhum|sin (?:mi permiso|preguntar\w*|mi aprobación|autorización)|sem (?:minha|a minha|permissão"
        r"|perguntar|autorização|me perguntar)"
        r"|obligatori[oa]|obrigatóri[oa]|(?:debes|deves|debe|deve|deben|devem) (?:siempre|sempre|usar|ser|estar|quedar"
        r"|ficar|responder|preguntar|perguntar))\b"
    ),
    (
        r"(?i)(?:^|[,;:]\s|\by\s|\be\s)(?:por favor,?\s)?(?:respond[ea](?:me)?|contesta(?:me)?) (?:siempre |sempre "
        r"|sólo |solo )?(?:en|em) \w+|(?:^|[,;:]\s|\by\s|\be\s)(?:por favor,?\s)?(?:evita|evite|solo usa|usa solo"
        r"|usa siempre|use sempre|use apenas|use somente|usa sólo|mantén|mantenha|prefiero|prefiro|somente"
        r"|apenas use)\b"
    ),
)
