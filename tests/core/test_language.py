"""The language that people write in: named when it is plain, else not at all."""

import pytest

from worker.core.language import language_of

SAID = {
    "English": "Please rename the column and run the tests, it is for the export.",
    "German": "Bitte benenne die Spalte um und lass auch die Tests laufen, das ist für den Export.",
    "French": "Renomme la colonne et lance les tests, c'est pour le chef, il faut que ce soit dans le rapport.",
    "Spanish": "Cambia el nombre de la columna y pasa las pruebas, por favor, es para los informes del lunes.",
    "Portuguese": "Muda o nome da coluna e corre os testes, por favor, isso é para um relatório do chefe, mas não já.",
    "Italian": "Rinomina la colonna e fai girare i test, è per il rapporto, ma non cancellare gli altri che sono lì.",
    "Dutch": "Hernoem de kolom en draai ook de tests, dat is voor het rapport van maandag, je kan dit nog doen.",
    "Chinese": "把这一列改名，然后跑一下测试，导出要用。不要修改公共接口的字段名。",
    "Japanese": "この列の名前を変えて、テストも実行してください。本番には書き込まないで。",
    "Korean": "이 열의 이름을 바꾸고 테스트도 실행해 주세요.",
}


@pytest.mark.parametrize("language", SAID)
def test_a_language_is_told_by_its_script_or_its_small_words(language: str) -> None:
    assert language_of([SAID[language]]) == language


def test_names_and_terms_in_other_letters_do_not_make_another_language() -> None:
    assert language_of(["那 Alfama 不行，坡太多了。换成 Baixa，要有电梯。"]) == "Chinese"
    assert language_of(
        [SAID["English"], "The error text has to read 请求过于频繁，请稍后再试 and nothing else, please."]
    ) == ("English")


def test_two_languages_side_by_side_are_none() -> None:
    assert language_of([SAID["English"], SAID["Chinese"]]) is None
    assert language_of([SAID["German"], SAID["French"]]) is None


@pytest.mark.parametrize("texts", [[], [""], ["ok"], ["T-101"], ["git push --force-with-lease to main"], ["Да"]])
def test_too_little_to_tell_is_none(texts: list[str]) -> None:
    assert language_of(texts) is None


def test_a_pasted_log_does_not_outvote_what_was_typed() -> None:
    log = "the worker is not in the list of hosts and it was lost on the way to the store " * 200
    assert (
        language_of([f"看一下这个日志，为什么会失败？\n```\n{log}\n```", "然后把结果告诉我，不要改代码。"]) == "Chinese"
    )
    typed = ["这个测试为什么失败？请先看一下日志，再告诉我原因，不要直接改代码。" * 3] * 8
    assert language_of([*typed, log]) == "Chinese"
